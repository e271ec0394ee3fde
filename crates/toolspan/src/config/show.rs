//! How is a resolved config shown, with its secrets hidden?

use std::path::PathBuf;

use serde_json::{Map, Value, json};
use toolspan_core::guard::secret::names_a_secret;
use toolspan_core::guard::{Limits, Timeouts};
use toolspan_core::registry::ToolSpec;
use toolspan_io::process::InheritEnv;

use super::bounds::{LIMITS, TIMEOUTS};
use super::policy::trust_word;
use super::problem::Problem;
use super::remote::{ProxyChoice, RemoteConfig, RemoteKind};
use super::resolved::Resolved;
use super::secrets::{HIDDEN, Hider, hide_members};
use super::shape::ShapeConfig;
use super::stdio::StdioServer;
use super::toolbox::{ToolboxConfig, Transport};

impl Resolved {
    /// The config as JSON for `config show`: keys as in a config, defaults and variables filled
    /// in, secrets hidden. A broken toolbox has `error` in place of what is started.
    pub fn to_json(&self) -> Value {
        let servers = self
            .toolboxes
            .iter()
            .map(|toolbox| (toolbox.key.clone(), shown(toolbox)));
        json!({
            "source": self.source.as_ref().map(|source| source.to_string_lossy()),
            "mcpServers": servers.collect::<Map<_, _>>(),
            "tools": self.tools.iter().map(tool).collect::<Vec<_>>(),
            "limits": limits(&self.limits),
            "timeouts": timeouts(&self.timeouts),
            "policy": self.policy.clone().unwrap_or_default().to_json(),
            "repair": self.repair.unwrap_or(true),
            "errors": self.broken_tools.iter().map(Problem::to_json).collect::<Vec<_>>(),
            "notes": self.notes.iter().map(Problem::to_json).collect::<Vec<_>>(),
            "warnings": self.warnings.iter().map(Problem::to_json).collect::<Vec<_>>(),
        })
    }
}

impl ToolboxConfig {
    /// Where its tools come from, for people: the command or the address, without secrets; `None`
    /// when its entry cannot be used.
    pub fn origin(&self) -> Option<String> {
        match self.transport.as_ref().ok()? {
            Transport::Stdio(server) => {
                let hider = Hider::of_urls(&server.secrets);
                let words = std::iter::once(&server.command).chain(&server.args);
                let words: Vec<String> = words.map(|word| hider.hide(word)).collect();
                Some(words.join(" "))
            }
            Transport::Remote(server) => {
                Some(Hider::of_urls(&server.secrets).hide(server.url.as_str()))
            }
        }
    }
}

fn shown(toolbox: &ToolboxConfig) -> Value {
    let mut members = match &toolbox.transport {
        Ok(Transport::Stdio(stdio)) => server(stdio),
        Ok(Transport::Remote(server)) => remote(server),
        Err(problem) => Map::from_iter([("error".to_owned(), problem.to_json())]),
    };
    let mut add = |key: &str, value| members.insert(key.to_owned(), value);
    add("prefix", toolbox.prefix.clone().into());
    add("disabled", toolbox.disabled.into());
    add("required", toolbox.required.into());
    let mut filter =
        json!({"include": toolbox.filter.include(), "exclude": toolbox.filter.exclude()});
    if let Some(members) = filter
        .as_object_mut()
        .filter(|_| !toolbox.shapes.is_empty())
    {
        let shapes: Map<String, Value> = toolbox.shapes.iter().map(ShapeConfig::to_json).collect();
        members.insert("shape".to_owned(), shapes.into());
    }
    add("tools", filter);
    add("trust", trust_word(toolbox.trust).into());
    add("limits", limits(&toolbox.limits));
    add("timeouts", timeouts(&toolbox.timeouts));
    Value::Object(members)
}

fn server(server: &StdioServer) -> Map<String, Value> {
    let hider = Hider::of_urls(&server.secrets);
    let hide = |text: &str| Value::from(hider.hide(text));
    let variable = |(name, value): &(String, String)| {
        let value = if names_a_secret(name) {
            HIDDEN.into()
        } else {
            hide(value)
        };
        (name.clone(), value)
    };
    Map::from_iter([
        ("transport".to_owned(), "stdio".into()),
        ("command".to_owned(), hide(&server.command)),
        (
            "args".to_owned(),
            server.args.iter().map(|arg| hide(arg)).collect(),
        ),
        (
            "env".to_owned(),
            Value::Object(server.env.iter().map(variable).collect()),
        ),
        (
            "cwd".to_owned(),
            server
                .cwd
                .as_ref()
                .map(|cwd| hide(&cwd.to_string_lossy()))
                .into(),
        ),
        ("inherit_env".to_owned(), inherit(&server.inherit_env)),
    ])
}

/// Values of headers are secrets, all of them.
fn remote(server: &RemoteConfig) -> Map<String, Value> {
    let hider = Hider::of_urls(&server.secrets);
    let hidden = |name: &String| (name.clone(), Value::from(HIDDEN));
    let headers = server.headers.iter().map(|(name, _)| hidden(name));
    let transport = match server.kind {
        RemoteKind::StreamableHttp => "http".into(),
        RemoteKind::Sse => "sse".into(),
        _ => Value::Null,
    };
    let proxy = match &server.proxy {
        ProxyChoice::Url(url) => hider.hide(url.reveal()).into(),
        ProxyChoice::Direct => false.into(),
        ProxyChoice::Environment => Value::Null,
    };
    let path = |path: &Option<PathBuf>| -> Value {
        let path = path.as_ref().map(|path| path.to_string_lossy());
        path.map(|path| hider.hide(&path)).into()
    };
    let tls = &server.tls;
    Map::from_iter([
        ("transport".to_owned(), transport),
        ("url".to_owned(), hider.hide(server.url.as_str()).into()),
        ("headers".to_owned(), Value::Object(headers.collect())),
        (
            "auth".to_owned(),
            server.auth.as_ref().map(|_| HIDDEN).into(),
        ),
        (
            "tls".to_owned(),
            json!({
                "ca": path(&tls.ca),
                "cert": path(&tls.cert),
                "key": path(&tls.key),
                "insecure": tls.insecure,
            }),
        ),
        ("proxy".to_owned(), proxy),
    ])
}

fn inherit(inherit: &InheritEnv) -> Value {
    match inherit {
        InheritEnv::Safe => "safe".into(),
        InheritEnv::None => "none".into(),
        InheritEnv::All => "all".into(),
        InheritEnv::Names(names) => names.clone().into(),
        _ => Value::Null,
    }
}

fn tool(tool: &ToolSpec) -> Value {
    json!({"name": tool.name, "params": hide_members(&Value::Object(tool.params.clone()))})
}

fn limits(limits: &Limits) -> Value {
    let mut limits = limits.clone();
    let members = LIMITS
        .iter()
        .map(|key| (key.name, *(key.field)(&mut limits)));
    members
        .map(|(name, value)| (name.to_owned(), Value::from(value)))
        .collect::<Map<_, _>>()
        .into()
}

/// Whole seconds as an integer.
fn timeouts(timeouts: &Timeouts) -> Value {
    let mut timeouts = timeouts.clone();
    let members = TIMEOUTS.iter().map(|key| {
        let time = *(key.field)(&mut timeouts);
        let whole = time.subsec_nanos() == 0;
        let seconds = if whole {
            time.as_secs().into()
        } else {
            time.as_secs_f64().into()
        };
        (key.name.to_owned(), seconds)
    });
    members.collect::<Map<_, _>>().into()
}
