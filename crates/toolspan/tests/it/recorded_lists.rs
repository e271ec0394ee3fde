//! Do the tool lists of 22 real servers, as recorded, all load through the whole client?

use std::path::Path;
use std::sync::Arc;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream};
use toolspan::Host;
use toolspan_mcp::transport::memory::Connector;
use toolspan_mcp::{McpServer, McpToolBox, Transport};

/// Answers a handshake and one `tools/list` with a recorded result.
async fn serve(stream: DuplexStream, list: Value) {
    let (read, mut write) = tokio::io::split(stream);
    let mut lines = BufReader::new(read).lines();
    while let Ok(Some(line)) = lines.next_line().await {
        let message: Value = serde_json::from_str(&line).unwrap();
        let result = match message["method"].as_str() {
            Some("initialize") => json!({
                "protocolVersion": message["params"]["protocolVersion"],
                "capabilities": {"tools": {}},
                "serverInfo": {"name": "recorded", "version": "1"},
            }),
            Some("tools/list") => list.clone(),
            _ => continue,
        };
        let reply = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
        if write
            .write_all(format!("{reply}\n").as_bytes())
            .await
            .is_err()
        {
            return;
        }
    }
}

fn toolbox(key: &str, list: Value) -> Arc<McpToolBox> {
    let connector: Connector = Arc::new(move |stream| {
        tokio::spawn(serve(stream, list.clone()));
    });
    Arc::new(McpToolBox::new(McpServer::new(
        key,
        Transport::Memory(connector),
    )))
}

#[tokio::test]
async fn every_recorded_tool_is_usable_under_a_legal_name_of_its_own() {
    let folder =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolspan-core/tests/fixtures/toollists");
    let mut builder = Host::builder();
    let mut files: Vec<_> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "json")
        })
        .collect();
    files.sort();
    assert_eq!(files.len(), 22);
    for path in &files {
        let list: Value = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        let list = if list.is_array() {
            json!({"tools": list})
        } else {
            list
        };
        let key = path.file_stem().unwrap().to_str().unwrap();
        builder = builder.toolbox(key, toolbox(key, list));
    }
    let host = builder.connect().await.unwrap();
    let snapshot = host.snapshot();
    let broken: Vec<String> = snapshot
        .broken()
        .iter()
        .map(|broken| {
            format!(
                "{} {}: {}",
                broken.toolbox, broken.tool.name, broken.tool.reason
            )
        })
        .collect();
    assert_eq!(broken, Vec::<String>::new());
    assert_eq!(snapshot.tools().len(), 478);
    for tool in snapshot.tools() {
        assert!(tool.name.len() <= 64, "{}", tool.name);
        assert_eq!(toolspan::name::sanitised(&tool.name), *tool.name);
        let definition = &tool.definition;
        definition
            .input
            .compile()
            .unwrap_or_else(|error| panic!("{}: {error}", tool.name));
        if let Some(output) = &definition.output {
            output
                .compile()
                .unwrap_or_else(|error| panic!("{}: {error}", tool.name));
        }
        assert!(
            !definition.extra.contains_key("outputSchema"),
            "{} lost it",
            tool.name
        );
        // By its full name and by the source's own name, too.
        let dotted = format!("{}.{}", tool.toolbox, definition.name);
        assert_eq!(snapshot.resolve(&dotted).unwrap().name, tool.name);
    }
    assert_eq!(snapshot.to_openai().as_array().unwrap().len(), 478);
    host.close().await;
}
