"""What does a server over HTTP get of the options of a call?"""

from __future__ import annotations

import asyncio
import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import pytest
import toolspan


class Handler(BaseHTTPRequestHandler):
    """Speaks MCP with answers in JSON; its tool ``request`` tells what a call came with."""

    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        message = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        if "id" not in message:
            return self.answer(202, b"")
        result = self.result(message["method"], message.get("params") or {})
        written = {"jsonrpc": "2.0", "id": message["id"], "result": result}
        return self.answer(200, json.dumps(written).encode())

    def result(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """The answer to a request."""
        if method == "initialize":
            version = params["protocolVersion"]
            about = {"name": "http", "version": "1.0"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": about}
        if method == "tools/list":
            return {"tools": [{"name": "request", "inputSchema": {"type": "object"}}]}
        headers = {name.lower(): value for name, value in self.headers.items()}
        told = {"headers": headers, "meta": params.get("_meta", {}), "given": params["arguments"]}
        return {"content": [], "structuredContent": told}

    def do_GET(self) -> None:
        self.answer(405, b"")

    do_DELETE = do_GET

    def answer(self, status: int, body: bytes) -> None:
        """Sends a whole answer."""
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing."""


@pytest.fixture
def host() -> Iterator[toolspan.Host]:
    """A host with one server, ``http``, whose config has a header."""
    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        serving = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        serving.start()
        url = f"http://127.0.0.1:{server.server_port}/mcp"
        entry = {"url": url, "transport": "http", "headers": {"X-Config": "of the config"}}
        with toolspan.connect({"mcpServers": {"http": entry}}) as host:
            yield host
        server.shutdown()
        serving.join()


def test_headers_and_meta_are_sent_with_the_calls_of_their_view_alone(host: toolspan.Host) -> None:
    view = host.with_options(headers={"X-Call": "of the call"}, meta={"trace": "t1"}, timeout=30)
    view = view.with_options(headers={"X-More": "of the later one"})

    async def main() -> toolspan.Observation:
        return await view.acall("request", headers={"not": "a header"})

    for seen in (view.call("request", headers={"not": "a header"}), asyncio.run(main())):
        told = seen.structured
        assert told["given"] == {"headers": {"not": "a header"}}
        assert told["headers"]["x-call"] == "of the call"
        assert told["headers"]["x-more"] == "of the later one"
        assert told["headers"]["x-config"] == "of the config"
        assert told["meta"]["trace"] == "t1"
    told = host.call("request").structured
    assert {"x-call", "x-more"}.isdisjoint(told["headers"]) and "trace" not in told["meta"]
    assert told["headers"]["x-config"] == "of the config"


def test_headers_of_a_call_come_before_those_of_the_config(host: toolspan.Host) -> None:
    told = host.with_options(headers={"x-config": "of the call"}).call("request").structured
    assert told["headers"]["x-config"] == "of the call"
