//! In which form does a model get the tools of a host, and which tool does its answer mean?

use serde_json::Value;
use toolspan_core::llm::{self, Answered, Api, Form, Offered, Projection};
use toolspan_core::{CallRequest, Observation, RegisteredTool};

use crate::host::Host;

impl Host {
    /// The tools there are now in the form of an API, and what that costs.
    ///
    /// Beside each tool's own arguments the model is asked for what the host wants to know
    /// ([`HostBuilder::inject`]), and for its word on the risk where the policy confirms calls; that
    /// only of tools that may change something, as [`Host::effective_annotations`] has it. Those fields
    /// stand in place of the form's own `injection`, since [`Host::run`] takes just them out again.
    ///
    /// [`HostBuilder::inject`]: crate::HostBuilder::inject
    pub fn project(&self, form: &Form) -> Projection {
        self.project_some(form, &|_| true)
    }

    /// [`Host::project`] for some of the tools, such as those that a search has found.
    pub fn project_some(
        &self,
        form: &Form,
        is_wanted: &dyn Fn(&RegisteredTool) -> bool,
    ) -> Projection {
        let rules = &self.shared().rules;
        let form = form.with_injection(rules.told_to_model());
        let offered = |tool: &RegisteredTool| {
            if !is_wanted(tool) {
                Offered::No
            } else if rules.effective(tool).is_read_only() {
                Offered::ReadOnly
            } else {
                Offered::Yes
            }
        };
        self.snapshot().project_for(&form, &offered)
    }

    /// The `tools` field of an OpenAI Chat Completions request: see [`Host::project`].
    pub fn to_openai(&self) -> Value {
        self.project(&Form::new(Api::OpenAi)).tools
    }

    /// The `tools` field of an OpenAI Responses request.
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

    /// The `tools` field of an MCP `tools/list` result. Nothing is asked for beside a tool's arguments.
    pub fn to_mcp(&self) -> Value {
        self.project(&Form::new(Api::Mcp)).tools
    }

    /// The answer to a model's call in the form of its API ([`llm::tool_result`]), the text within the
    /// `limits.output_chars` of its toolbox.
    pub fn tool_result(&self, api: Api, call: Answered<'_>, observation: &Observation) -> Value {
        let most = observation.output_chars;
        let most = most.unwrap_or(self.limits().output_chars);
        llm::tool_result(api, call, observation, most)
    }

    /// The request with the name of the tool that a model means: of one that a form calls otherwise, or
    /// with what was written around it cut off. Any other name stays.
    pub(crate) fn as_meant(&self, mut request: CallRequest) -> CallRequest {
        let snapshot = self.shared().snapshot.load();
        if snapshot.get(&request.tool).is_some() {
            return request;
        }
        let is_known =
            |name: &str| snapshot.shown_as(name).is_some() || snapshot.resolve(name).is_ok();
        request = request.with_plain_name(is_known);
        if let Some(tool) = snapshot.shown_as(&request.tool)
            && *tool.name != *request.tool
        {
            request.tool = tool.name.to_string();
        }
        request
    }
}
