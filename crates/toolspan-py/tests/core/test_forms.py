"""In which forms do model APIs get the tools of a host?"""

from __future__ import annotations

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
