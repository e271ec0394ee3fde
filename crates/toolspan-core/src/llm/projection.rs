//! How do the tools of a snapshot become what an API takes?

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Value, json};

use super::form::{Api, Form};
use super::loss::{Effect, LeftOut, Loss, Losses};
use super::walk::Unfit;
use super::{anthropic, gemini, gemini_open_api, mcp, names, openai, responses};
use crate::observation::budget;
use crate::registry::{RegisteredTool, Snapshot};

/// The tools of a snapshot in the form of an API, and what that cost.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Projection {
    /// The value of the request's `tools` field.
    pub tools: Value,
    /// Every change that was made of the tools that are given, in their order.
    pub losses: Vec<Loss>,
    /// Tools that the API cannot take.
    pub left_out: Vec<LeftOut>,
    /// Tools that the form calls otherwise.
    pub renamed: Vec<Renamed>,
}

/// A tool that the form calls otherwise.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Renamed {
    /// The tool's exposed name.
    pub tool: Arc<str>,
    /// Its name in the form.
    pub name: Arc<str>,
}

impl Projection {
    /// The exposed name of the tool that the form calls `name`.
    pub fn tool_of<'n>(&'n self, name: &'n str) -> &'n str {
        let found = self.renamed.iter().find(|renamed| &*renamed.name == name);
        found.map_or(name, |renamed| &renamed.tool)
    }
}

/// Whether a tool is given, and what it may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Offered {
    /// It is not given.
    No,
    /// It changes nothing, so that the model is not asked for the risk of its calls.
    ReadOnly,
    /// Any other tool.
    Yes,
}

/// A schema in the form of an API.
pub(super) struct Shaped {
    pub(super) schema: Value,
    pub(super) is_strict: bool,
}

/// A tool with what goes into its declaration.
pub(super) struct Declared<'t> {
    pub(super) tool: &'t RegisteredTool,
    pub(super) name: Arc<str>,
    pub(super) description: String,
    pub(super) shaped: Shaped,
}

impl Snapshot {
    /// The tools in the form of an API. A tool that the API cannot take is left out alone, with the
    /// reason; the others are given.
    ///
    /// Where the form asks for the model's word on the risk, it does so for every tool: a source's own
    /// hint that one changes nothing is not believed. A host knows better, and says so to
    /// [`project_for`](Self::project_for).
    pub fn project(&self, form: &Form) -> Projection {
        self.project_for(form, &|_| Offered::Yes)
    }

    /// [`project`](Self::project) for some of the tools, of which it is known what they may do. Names
    /// are the same whichever are given.
    pub fn project_for(
        &self,
        form: &Form,
        offered: &dyn Fn(&RegisteredTool) -> Offered,
    ) -> Projection {
        let mut projection = Projection {
            tools: Value::Null,
            losses: Vec::new(),
            left_out: Vec::new(),
            renamed: Vec::new(),
        };
        let mut request = Request {
            names: names::given(self, form.api),
            strict: anthropic::Spent::default(),
        };
        let mut declared = Vec::with_capacity(self.tools().len());
        for tool in self.tools() {
            let mut form = *form;
            match offered(tool) {
                Offered::No => continue,
                Offered::ReadOnly => form.injection.security_risk = false,
                Offered::Yes => {}
            }
            let mut losses = Losses::new(&tool.name);
            match request.declare((tool, &form), &mut losses, &mut projection.renamed) {
                Ok(value) => {
                    declared.push(value);
                    projection.losses.append(&mut losses.list);
                }
                Err(Unfit(reason)) => projection.left_out.push(LeftOut {
                    tool: Arc::clone(&tool.name),
                    reason,
                }),
            }
        }
        projection.tools = match form.api {
            Api::Gemini | Api::GeminiOpenApi if !declared.is_empty() => {
                json!([{"functionDeclarations": declared}])
            }
            _ => declared.into(),
        };
        projection
    }

    /// The `tools` field of an OpenAI Chat Completions request: each schema as its author wrote it
    /// wherever the API takes it so.
    pub fn to_openai(&self) -> Value {
        self.project(&Form::new(Api::OpenAi)).tools
    }

    /// The `tools` field of an OpenAI Responses request, which states of each tool that it is not
    /// strict.
    pub fn to_responses(&self) -> Value {
        self.project(&Form::new(Api::Responses)).tools
    }

    /// The `tools` field of an Anthropic Messages request.
    pub fn to_anthropic(&self) -> Value {
        self.project(&Form::new(Api::Anthropic)).tools
    }

    /// The `tools` field of a Gemini request: one element with all `functionDeclarations`.
    pub fn to_gemini(&self) -> Value {
        self.project(&Form::new(Api::Gemini)).tools
    }

    /// The `tools` field of an MCP `tools/list` result, under the exposed names.
    pub fn to_mcp(&self) -> Value {
        self.project(&Form::new(Api::Mcp)).tools
    }
}

/// What the tools of one request share.
struct Request<'s> {
    /// What tools are called whose exposed names the API refuses.
    names: HashMap<&'s str, Arc<str>>,
    /// What strict tools count against Anthropic's limits so far.
    strict: anthropic::Spent,
}

impl Request<'_> {
    fn declare(
        &mut self,
        (tool, form): (&RegisteredTool, &Form),
        losses: &mut Losses,
        renamed: &mut Vec<Renamed>,
    ) -> Result<Value, Unfit> {
        let shaped = match form.api {
            Api::OpenAi => openai::shape(tool, form, losses)?,
            Api::Responses => responses::shape(tool, form, losses)?,
            Api::Anthropic => anthropic::shape(tool, form, (&mut self.strict, losses))?,
            Api::Gemini => gemini::shape(tool, form, losses)?,
            Api::GeminiOpenApi => gemini_open_api::shape(tool, form, losses)?,
            Api::Mcp => mcp::shape(tool, losses),
        };
        let other = self.names.get(&*tool.name);
        let name = Arc::clone(other.unwrap_or(&tool.name));
        if name != tool.name {
            let what = format!("the tool is called `{name}`");
            losses.say("", Effect::Undone, (what, names::WHY));
            renamed.push(Renamed {
                tool: Arc::clone(&tool.name),
                name: Arc::clone(&name),
            });
        }
        let description = described(tool, form, losses);
        let declared = Declared {
            tool,
            name,
            description,
            shaped,
        };
        Ok(match form.api {
            Api::OpenAi => openai::declare(declared),
            Api::Responses => responses::declare(declared),
            Api::Anthropic => anthropic::declare(declared),
            Api::Gemini => gemini::declare(declared),
            Api::GeminiOpenApi => gemini_open_api::declare(declared),
            Api::Mcp => mcp::declare(declared),
        })
    }
}

/// The description, within the form's bound.
fn described(tool: &RegisteredTool, form: &Form, losses: &mut Losses) -> String {
    let text = &tool.definition.description;
    let Some(most) = form.description_chars else {
        return text.clone();
    };
    let cut = budget::shorten(text.clone(), most);
    if cut != *text {
        let length = text.chars().count();
        let what = format!("the description of {length} characters is cut in the middle");
        losses.say(
            "",
            Effect::Words,
            (what, format!("the form has at most {most}")),
        );
    }
    cut
}
