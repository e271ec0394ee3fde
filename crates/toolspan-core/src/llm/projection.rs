//! How do the tools of a snapshot become what an API takes?

use std::collections::HashSet;
use std::sync::Arc;

use serde_json::{Value, json};

use super::form::{Api, Form};
use super::loss::{Effect, LeftOut, Loss, Losses};
use super::walk::Unfit;
use super::{anthropic, gemini, gemini_open_api, mcp, openai, responses};
use crate::observation::budget;
use crate::registry::{RegisteredTool, Snapshot};

/// The tools of a snapshot in the form of an API, and what that cost.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Projection {
    /// The value of the request's `tools` field.
    pub tools: Value,
    /// Every change that was made, in the order of the tools.
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
    /// Asked for is the model's word on the risk of each tool whose own hints do not say that it
    /// changes nothing. Who does not believe every source's hints takes
    /// [`project_for`](Self::project_for).
    pub fn project(&self, form: &Form) -> Projection {
        self.project_for(form, &|tool| tool.definition.hints().is_read_only())
    }

    /// [`project`](Self::project) where `is_read_only` says which tools change nothing.
    pub fn project_for(
        &self,
        form: &Form,
        is_read_only: &dyn Fn(&RegisteredTool) -> bool,
    ) -> Projection {
        let mut projection = Projection {
            tools: Value::Null,
            losses: Vec::new(),
            left_out: Vec::new(),
            renamed: Vec::new(),
        };
        let mut request = Request::default();
        let mut declared = Vec::with_capacity(self.tools().len());
        for tool in self.tools() {
            let mut losses = Losses::new(&tool.name);
            let mut form = *form;
            form.injection.security_risk &= !is_read_only(tool);
            match request.declare((tool, &form), &mut losses, &mut projection.renamed) {
                Ok(value) => declared.push(value),
                Err(Unfit(reason)) => projection.left_out.push(LeftOut {
                    tool: Arc::clone(&tool.name),
                    reason,
                }),
            }
            projection.losses.append(&mut losses.list);
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
#[derive(Default)]
pub(super) struct Request {
    /// Names of the form that are taken.
    names: HashSet<Arc<str>>,
    /// What strict tools count against Anthropic's limits so far.
    pub(super) strict: anthropic::Spent,
}

impl Request {
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
        let name = self.name(&tool.name, form.api);
        if name != tool.name {
            let what = format!("the tool is called `{name}`");
            losses.say("", Effect::Undone, (what, gemini::NAMES));
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

    /// The name of a tool in the form: the exposed one, which all APIs take but for Gemini's rule
    /// on the first character.
    fn name(&mut self, exposed: &Arc<str>, api: Api) -> Arc<str> {
        let name = match api {
            Api::Gemini | Api::GeminiOpenApi => {
                gemini::name(exposed, |name| self.names.contains(name))
            }
            _ => Arc::clone(exposed),
        };
        self.names.insert(Arc::clone(&name));
        name
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
