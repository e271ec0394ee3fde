"""In which forms do model APIs get the tools of a host?"""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
import toolspan


def test_each_api_gets_the_tools_in_its_own_form_and_what_it_costs_is_told() -> None:
    with toolspan.connect({"mcpServers": {}}) as host:

        @host.tool
        def add(a: int, b: int = 2) -> int:
            """Adds two numbers."""
            return a + b

        schema = host.tools[0].input_schema
        [chat] = host.to_openai()
        assert chat["function"]["name"] == "add" and chat["function"]["parameters"] == schema
        [flat] = host.to_responses()
        assert (flat["type"], flat["name"], flat["strict"]) == ("function", "add", False)
        [message] = host.to_anthropic()
        assert (message["name"], message["input_schema"]) == ("add", schema)
        [gemini] = host.to_gemini()
        assert [each["name"] for each in gemini["functionDeclarations"]] == ["add"]
        [listed] = host.to_mcp()
        assert listed["inputSchema"] == schema

        [strict] = host.to_openai(strict=True)
        assert strict["function"]["strict"] is True
        assert set(strict["function"]["parameters"]["required"]) == {"a", "b"}
        losses = host.losses("openai", strict=True)
        assert losses and all(loss["tool"] == "add" and loss["why"] for loss in losses)
        assert {"tool", "pointer", "effect", "what", "why"} == set(losses[0])
        assert host.losses("mcp") == []
        with pytest.raises(ValueError, match="one of openai"):
            host.losses("other")


def call_of(api: str, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    """A call as the API's model writes it."""
    text = json.dumps(arguments)
    match api:
        case "openai":
            function = {"name": name, "arguments": text}
            return {"id": "c1", "type": "function", "function": function}
        case "responses":
            return {"type": "function_call", "call_id": "c1", "name": name, "arguments": text}
        case "anthropic":
            return {"type": "tool_use", "id": "c1", "name": name, "input": arguments}
        case _:
            return {"functionCall": {"id": "c1", "name": name, "args": arguments}}


def declared(tools: list[dict[str, Any]]) -> dict[str, tuple[str, dict[str, Any]]]:
    """Each tool's name in the form and its schema, by the description."""
    found = {}
    for tool in tools[0].get("functionDeclarations", tools):
        tool = tool.get("function", tool)
        keys = ("parameters", "input_schema", "parametersJsonSchema")
        schema = next(tool[key] for key in keys if key in tool)
        found[tool["description"]] = (tool["name"], schema)
    return found


FORMS: dict[str, Callable[[toolspan.Host], list[dict[str, Any]]]] = {
    "openai": lambda host: host.to_openai(),
    "openai strict": lambda host: host.to_openai(strict=True),
    "responses": lambda host: host.to_responses(),
    "anthropic": lambda host: host.to_anthropic(),
    "anthropic strict": lambda host: host.to_anthropic(strict=True),
    "gemini": lambda host: host.to_gemini(),
    "gemini-openapi": lambda host: host.to_gemini(openapi=True),
}


@pytest.mark.parametrize("form", FORMS)
def test_a_model_of_each_api_calls_a_tool_by_its_form_and_the_tool_gets_its_own_arguments(
    form: str,
) -> None:
    api = form.split()[0]
    calls: list[tuple[int, str]] = []
    policy = {"confirm": "risky"}
    with toolspan.connect(
        {"mcpServers": {}}, policy=policy, approver=lambda _: True, inject=["summary"]
    ) as host:

        @host.tool
        def keep(size: int, summary: str) -> str:
            """Keeps it."""
            calls.append((size, summary))
            return "kept"

        @host.tool(annotations={"readOnlyHint": True})
        def look(size: int) -> str:
            """Looks at it."""
            return "seen"

        tools = declared(FORMS[form](host))
        name, schema = tools["Keeps it."]
        assert list(schema["properties"])[:2] == ["security_risk", "toolspan_summary"]
        _, schema = tools["Looks at it."]
        assert list(schema["properties"]) == ["summary", "size"]
        arguments = {
            "security_risk": "HIGH",
            "toolspan_summary": "Keeps a box",
            "size": 5,
            "summary": "A title",
        }
        call = call_of(api, name, arguments)
        seen = host.run(call)
        assert (seen.text, calls) == ("kept", [(5, "A title")])
        assert seen.decision is not None and seen.decision["risk"] == "high"
        [answer] = host.tool_results(api, [call], [seen])
        text = {"type": "text", "text": "kept"}
        assert (
            answer
            == {
                "openai": {"role": "tool", "tool_call_id": "c1", "content": "kept"},
                "responses": {"type": "function_call_output", "call_id": "c1", "output": "kept"},
                "anthropic": {"type": "tool_result", "tool_use_id": "c1", "content": [text]},
                "gemini": {
                    "functionResponse": {"id": "c1", "name": name, "response": {"output": "kept"}}
                },
            }[api.removesuffix("-openapi")]
        )


def test_names_that_an_api_refuses_lead_back_to_the_tool_and_its_arguments() -> None:
    with toolspan.connect({"mcpServers": {}}) as host:

        @host.tool(name="2fa")
        def find(naïve: int, na_ve: str) -> str:
            """Finds it."""
            return f"{naïve} {na_ve}"

        name, shown = declared(host.to_gemini(openapi=True))["Finds it."]
        (renamed,) = set(shown["properties"]) - {"na_ve"}
        assert (name, renamed.isascii()) == ("_2fa", True)
        call = call_of("gemini", name, {renamed: 1, "na_ve": "a"})
        assert [seen.text for seen in host.run_batch([call, call])] == ["1 a", "1 a"]
        name, shown = declared(host.to_anthropic())["Finds it."]
        assert name == "2fa" and list(shown["properties"]) == [renamed, "na_ve"]
        call = call_of("anthropic", name, {renamed: 2, "na_ve": "b"})
        assert host.run(call).text == "2 b"
        losses = host.losses("anthropic")
        assert [loss["effect"] for loss in losses] == ["undone"] and renamed in losses[0]["what"]


def test_images_go_to_openai_behind_the_answers_and_each_call_needs_an_observation() -> None:
    with toolspan.connect({"mcpServers": {}}) as host:

        @host.tool
        def draw() -> toolspan.ImageContent:
            """Draws."""
            return toolspan.ImageContent(b"hi", "image/png")

        calls = [call_of("openai", "draw", {}), call_of("openai", "none", {})]
        seen = host.run_batch(calls)
        results = host.tool_results("openai", calls, seen)
        assert [message["role"] for message in results] == ["tool", "tool", "user"]
        assert results[1]["tool_call_id"] == "c1" and "none" in results[1]["content"]
        [block] = host.tool_results("anthropic", calls[:1], seen[:1])
        assert block["content"][0]["type"] == "image"
        with pytest.raises(ValueError, match="one observation for each"):
            host.tool_results("openai", calls, seen[:1])
        with pytest.raises(ValueError, match="one of openai"):
            host.tool_results("other", calls, seen)


def test_only_what_a_host_can_take_out_again_is_asked_for() -> None:
    with pytest.raises(ValueError, match="'security_risk' and 'summary', not 'reason'"):
        toolspan.connect({"mcpServers": {}}, inject=["reason"])
