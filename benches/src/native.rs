//! What does a call of a tool of one's own cost: checked and run, and all the way from a model's call
//! to the message that answers it?

use std::sync::Arc;

use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::runtime::Runtime;
use toolspan::Host;
use toolspan::llm::{Answered, Api, tool_result};
use toolspan::tool::{Action, Tool, ToolFailure, tool_fn};

use crate::failure::Failure;
use crate::measure::{Client, one_by_one_async};
use crate::runtime;

/// Arguments of one level, as `benches/python/fastmcp_tools.py` has them.
#[derive(Deserialize, JsonSchema)]
struct Flat {
    text: String,
    #[expect(
        dead_code,
        reason = "read from the call, as a tool would; not looked at"
    )]
    times: i64,
    #[serde(default)]
    #[expect(
        dead_code,
        reason = "read from the call, as a tool would; not looked at"
    )]
    loud: bool,
}

impl Action for Flat {}

/// Arguments of three levels: an object, and a list of objects.
#[derive(Deserialize, JsonSchema)]
struct Nested {
    text: String,
    #[expect(
        dead_code,
        reason = "read from the call, as a tool would; not looked at"
    )]
    address: Address,
    #[expect(
        dead_code,
        reason = "read from the call, as a tool would; not looked at"
    )]
    orders: Vec<Order>,
}

impl Action for Nested {}

#[derive(Deserialize, JsonSchema)]
#[expect(
    dead_code,
    reason = "read from the call, as a tool would; not looked at"
)]
struct Address {
    street: String,
    town: String,
}

#[derive(Deserialize, JsonSchema)]
#[expect(
    dead_code,
    reason = "read from the call, as a tool would; not looked at"
)]
struct Order {
    item: String,
    count: i64,
}

const FLAT: &str = "flat";
const FLAT_ARGUMENTS: &str = r#"{"text":"hello","times":3,"loud":true}"#;
const NESTED: &str = "nested";
const NESTED_ARGUMENTS: &str = r#"{"text":"hello","address":{"street":"Main Street","town":"Here"},"orders":[{"item":"bread","count":1},{"item":"milk","count":2}]}"#;
/// What each call is answered with.
const ANSWER: &str = "hello";
const CALL_ID: &str = "call_1";

fn flat() -> impl Tool {
    tool_fn(FLAT, "Says a text again.", |flat: Flat| async move {
        Ok::<_, ToolFailure>(flat.text)
    })
}

fn nested() -> impl Tool {
    tool_fn(NESTED, "Says a text again.", |nested: Nested| async move {
        Ok::<_, ToolFailure>(nested.text)
    })
}

/// A call of a model that is made again and again.
#[derive(Clone)]
struct Caller {
    host: Host,
    /// In the form of OpenAI's Chat API, as its clients give it: the arguments are text.
    call: Arc<Value>,
    tool: &'static str,
    /// The message that answers it.
    wanted: Arc<str>,
}

impl Client for Caller {
    async fn call(&self) -> Result<(), Failure> {
        let observation = self.host.run(&self.call).await;
        let answered = Answered {
            call_id: CALL_ID,
            name: self.tool,
        };
        let most = self.host.limits().output_chars;
        let message = tool_result(Api::OpenAi, answered, &observation, most).to_string();
        if message == *self.wanted {
            return Ok(());
        }
        Err(wrong(message))
    }
}

fn wrong(reply: String) -> Failure {
    let who = "a tool of one's own";
    Failure::WrongReply { who, reply }
}

fn connected() -> Result<(Runtime, Host), Failure> {
    let runtime = runtime::here()?;
    let builder = Host::builder().tool(flat()).tool(nested());
    let host = runtime.block_on(builder.connect())?;
    Ok((runtime, host))
}

/// A model's calls, from a task.
pub(crate) struct Native {
    caller: Caller,
    runtime: Runtime,
}

impl Native {
    /// Calls with flat arguments.
    pub(crate) fn flat() -> Result<Self, Failure> {
        Self::calling(FLAT, FLAT_ARGUMENTS)
    }

    /// Calls with nested arguments.
    pub(crate) fn nested() -> Result<Self, Failure> {
        Self::calling(NESTED, NESTED_ARGUMENTS)
    }

    fn calling(tool: &'static str, arguments: &str) -> Result<Self, Failure> {
        let (runtime, host) = connected()?;
        let function = json!({"name": tool, "arguments": arguments});
        let call = json!({"id": CALL_ID, "type": "function", "function": function});
        let wanted = json!({"role": "tool", "tool_call_id": CALL_ID, "content": ANSWER});
        let caller = Caller {
            host,
            call: Arc::new(call),
            tool,
            wanted: wanted.to_string().into(),
        };
        Ok(Self { caller, runtime })
    }

    pub(crate) fn one_by_one(&self, calls: usize) -> Result<f64, Failure> {
        one_by_one_async(&self.runtime, &self.caller, calls)
    }
}

/// A program's call of the flat tool: nothing to read, and nothing to write.
#[derive(Clone)]
struct Checked {
    host: Host,
    arguments: Arc<Value>,
}

impl Client for Checked {
    async fn call(&self) -> Result<(), Failure> {
        let arguments = Value::clone(&self.arguments);
        let observation = self.host.call(FLAT, arguments).await?;
        match observation.content.as_slice() {
            [only] if only.as_text() == Some(ANSWER) && !observation.is_error => Ok(()),
            _ => Err(wrong(observation.text())),
        }
    }
}

/// A program's calls, from a task.
pub(crate) struct NativeChecked {
    caller: Checked,
    runtime: Runtime,
}

impl NativeChecked {
    pub(crate) fn flat() -> Result<Self, Failure> {
        let (runtime, host) = connected()?;
        let arguments = serde_json::from_str(FLAT_ARGUMENTS);
        let arguments = arguments.map_err(|error| Failure::Unreadable(error.to_string()))?;
        let caller = Checked {
            host,
            arguments: Arc::new(arguments),
        };
        Ok(Self { caller, runtime })
    }

    pub(crate) fn one_by_one(&self, calls: usize) -> Result<f64, Failure> {
        one_by_one_async(&self.runtime, &self.caller, calls)
    }
}
