"""How does a typed program use the whole package? Only its types are checked; it is never run."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import toolspan
from toolspan import (
    CallContext,
    Content,
    Host,
    InterceptedCall,
    LogMessage,
    Observation,
    Progress,
    Question,
    Tool,
)
from toolspan.tools import ToolSpec
from typing_extensions import assert_never, assert_type


def on_log(message: LogMessage) -> None:
    assert_type(message.toolbox, str)
    assert_type(message.level, str)
    assert_type(message.text, str)


def on_progress(progress: Progress) -> None:
    assert_type(progress.progress, float)
    assert_type(progress.total, float | None)
    assert_type(progress.message, str | None)


def approve(question: Question) -> bool:
    assert_type(question.level, int)
    print(question.text, question.tool, question.toolbox, question.rule)
    return question.risk != "high" and question.arguments != "{}"


def refuse(call: InterceptedCall) -> str | None:
    return "not this one" if call.tool == "drop" and call.toolbox == "shop" else None


async def judge(call: InterceptedCall) -> str:
    return "high" if "path" in call.arguments else "low"


async def of_batches(host: Host) -> None:
    assert_type(await host.arun_batch([{"name": "time__now"}]), list[Observation])


async def watch(call: InterceptedCall) -> Observation:
    assert_type(call.run({"a": 1}), Observation)
    return await call.arun()


def connected() -> Host:
    """Every form of a config."""
    config: dict[str, object] = {"mcpServers": {"time": {"command": "uvx"}}}
    toolspan.connect().close()
    toolspan.connect(None).close()
    toolspan.connect("toolspan.json", on_log=on_log).close()
    toolspan.connect(Path("toolspan.json"), on_log=print).close()
    toolspan.connect(inject=["security_risk", "summary"]).close()
    toolspan.connect(config, policy={"confirm": "risky"}, approver=approve).close()
    toolspan.connect(config, policy=refuse, analyzers=[judge], interceptors=[watch]).close()
    with toolspan.connect(config) as host:
        assert_type(host, Host)
    return host


def of_host(host: Host) -> None:
    assert_type(host.tools, list[Tool])
    assert_type(host.tools_changed, bool)
    assert_type(host.warnings, list[str])
    assert_type(host.closed, bool)
    for status in host.status():
        assert_type(status["toolbox"], str)
        assert_type(status["tools"], int)
        assert_type([broken["reason"] for broken in status["broken"]], list[str])
        if status["state"] == "failed" and status["error"] is not None:
            print(status["kind"], status["error"]["message"])
    assert_type(host.call("time__now"), Observation)
    assert_type(host.call("time__now", {"timezone": "UTC"}), Observation)
    assert_type(host.call("time__now", {"a": 1}, timezone="UTC", name="x", self=1), Observation)
    assert_type(host.run({"name": "time__now", "arguments": {}}), Observation)
    assert_type(host.run_batch([{"name": "time__now", "arguments": {}}]), list[Observation])
    assert_type(host.search("what time is it", limit=3), list[Tool])
    assert_type(host.find("time__now"), Tool)
    host.refresh()
    quick = host.with_options(
        timeout=5, headers={"X-Tenant": "a"}, meta={"x": 1}, on_progress=print
    )
    assert_type(quick.with_options(on_progress=on_progress), Host)
    assert_type(quick.with_options(conversation=object()), Host)

    @host.tool
    def add(a: int, b: int = 2) -> int:
        return a + b

    @host.tool(name="wait", description="Waits", annotations={"readOnlyHint": True}, resources=[])
    async def wait(context: CallContext, seconds: float) -> str:
        assert_type(context.tool, str)
        assert_type(context.meta, dict[str, Any])
        assert_type(context.cancelled, bool)
        context.report(1, 2, "half")
        return str(context.conversation)

    assert_type(add(1), int)
    assert_type(host.remove_tool("add"), bool)
    assert_type(host.add_tool(ToolSpec("counter", {"start": 5}), conv_state=None), list[str])
    assert_type(host.add_tool({"name": "counter"}), list[str])
    assert_type(host.call("add", a=1).visualize(ansi=True), str)
    assert_type(host.to_openai(), list[dict[str, Any]])
    assert_type(host.to_mcp(), list[dict[str, Any]])
    assert_type(host.to_responses(strict=True), list[dict[str, Any]])
    assert_type(host.to_anthropic(), list[dict[str, Any]])
    assert_type(host.to_gemini(), list[dict[str, Any]])
    assert_type(host.to_gemini(openapi=True), list[dict[str, Any]])
    call = {"name": "time__now", "arguments": {}}
    answers = host.tool_results("openai", [call], [host.run(call)])
    assert_type(answers, list[dict[str, Any]])
    assert_type(host.losses("openai", strict=True), list[dict[str, Any]])


def of_tool(tool: Tool) -> None:
    words = [tool.name, tool.toolbox, tool.original_name, tool.title, tool.description]
    assert_type(words, list[str])
    assert_type(tool.input_schema, dict[str, Any])
    assert_type(tool.output_schema, dict[str, Any] | None)
    assert_type(tool.annotations, dict[str, Any])
    assert_type(tool.signature, str)
    assert_type(tool.to_dict(), dict[str, Any])
    tool.validate({"timezone": "UTC"}, format="24h")


def of_observation(observation: Observation) -> str:
    assert_type(observation.text, str)
    assert_type(observation.content, list[Content])
    assert_type(observation.is_error, bool)
    assert_type(observation.schema_violation, str | None)
    assert_type(observation.repairs, list[dict[str, Any]])
    assert_type(observation.decision, dict[str, Any] | None)
    assert_type(observation.to_llm_text(), str)
    assert_type(observation.to_llm_text(max_chars=100), str)
    assert_type(observation.to_dict(), dict[str, Any])
    assert_type(observation.extra, dict[str, Any])
    anything: object = [observation.structured, observation.raw]
    for part in observation.to_llm_content(1_000):
        if part.type == "text":
            assert_type(part, toolspan.TextContent)
        else:
            assert_type(part, toolspan.ImageContent)
    return f"{observation} {anything}" + "".join(map(of_block, observation.content))


def of_block(block: Content) -> str:
    """Every kind is handled: the checker knows that nothing is left."""
    match block:
        case toolspan.TextContent(text):
            return assert_type(text, str)
        case toolspan.ImageContent(data, mime_type) | toolspan.AudioContent(data, mime_type):
            assert_type(block.to_bytes(), bytes)
            return data + mime_type
        case toolspan.EmbeddedResource(uri):
            return uri + (block.mime_type or "") + (block.text or block.blob or "")
        case toolspan.ResourceLink(uri, name):
            assert_type(block.to_dict(), dict[str, Any])
            return uri + name
        case toolspan.OtherContent(type=kind):
            return kind
    assert_never(block)


def of_errors(host: Host) -> None:
    try:
        host.call("time__now")
    except toolspan.InvalidArguments as error:
        assert_type([one["pointer"] for one in error.violations], list[str])
    except (toolspan.ToolNotFound, toolspan.Timeout, toolspan.ConnectError) as error:
        assert_type(error.suggestions, list[str])
    except (toolspan.AuthError, toolspan.Overloaded, toolspan.RemoteError) as error:
        assert_type(error.http_status, int | None)
        assert_type(error.retry_after, float | None)
        assert_type(error.code, int | None)
    except (toolspan.StartupError, toolspan.ClosedError, toolspan.ForkedProcess) as error:
        assert_type(error.stderr, str | None)
    except (toolspan.PolicyDenied, toolspan.ApprovalRequired, toolspan.Cancelled) as error:
        assert_type(error.hint, str | None)
    except (toolspan.ConfigError, toolspan.ProtocolError, toolspan.ResponseTooLarge) as error:
        assert_type(error.phase + error.outcome + error.kind + error.message, str)
    except (toolspan.SchemaRejected, toolspan.UsageError, toolspan.InternalError) as error:
        assert_type(error.toolbox, str | None)
        assert_type(error.tool, str | None)
    except toolspan.ToolspanError as error:
        assert_type(error.to_dict(), dict[str, Any])
    except ValueError as error:
        assert_type(error, ValueError)


async def awaited() -> None:
    host = await toolspan.aconnect("toolspan.json", on_log=on_log)
    async with host:
        assert_type(await host.acall("time__now", {"a": 1}, timezone="UTC"), Observation)
    async with toolspan.aconnect() as host:
        assert_type(host, Host)
        both = await asyncio.gather(host.acall("a"), host.arun({"name": "b"}))
        assert_type(both, tuple[Observation, Observation])
        assert_type(await host.afind("time__now"), Tool)
        assert_type(await asyncio.wait_for(host.acall("a"), 5), Observation)
        call = host.acall("a")
        call.cancel()
        call.add_done_callback(lambda done: print(done.result().text))
        await host.arefresh()
        await host.aclose()


async def in_a_task(host: Host) -> Observation:
    return await asyncio.create_task(one_call(host))


async def one_call(host: Host) -> Observation:
    return await host.acall("a")


print(toolspan.__version__.split("."))
