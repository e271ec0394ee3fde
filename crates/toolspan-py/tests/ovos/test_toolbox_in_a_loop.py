"""Does an agent loop of ovos-agentic-loop come to an answer with a tool of ours?"""

from __future__ import annotations

import json
from collections.abc import Callable

from kit.servers import Remote
from ovos_agentic_loop.plan_execute import PlanAndExecuteEngine
from ovos_agentic_loop.react import ReActLoopEngine
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole
from toolboxes import Entry, Make


class Script(ChatEngine):
    """Says one line after the other, and keeps what it was asked."""

    def __init__(self, *lines: str) -> None:
        super().__init__(config={})
        self.lines = list(lines)
        self.heard: list[list[AgentMessage]] = []

    def continue_chat(
        self,
        messages: list[AgentMessage],
        session_id: str = "default",
        lang: str | None = None,
        units: str | None = None,
        tools: object = None,
    ) -> AgentMessage:
        self.heard.append(list(messages))
        return AgentMessage(role=MessageRole.ASSISTANT, content=self.lines.pop(0))


def ask(text: str) -> list[AgentMessage]:
    return [AgentMessage(role=MessageRole.USER, content=text)]


def test_a_react_loop_calls_a_real_server_and_finishes(launch: Entry, make: Make) -> None:
    box = make({"transport": "stdio", **launch("everything"), "timeout": 30})
    brain = Script(
        'Thought: I must add.\nAction: get-sum\nAction Input: {"a": 2, "b": 40}',
        "FINAL_ANSWER: It is 42.",
    )
    engine = ReActLoopEngine(config={"max_iterations": 3})
    engine.load_toolboxes([box])
    engine.set_brain(brain)

    answer = engine.continue_chat(ask("What is 2 + 40?"))

    assert answer.content == "It is 42."
    instructions = brain.heard[0][0].content
    tool = box.get_tool("get-sum")
    assert tool is not None
    # The model was given the schema that the server wrote.
    for name, schema in tool.argument_schema.model_json_schema()["properties"].items():
        assert f'"{name}"' in instructions
        assert json.dumps(schema["description"]) in instructions
    observation = brain.heard[1][-1].content
    assert observation.startswith("Observation: ")
    assert "The sum of 2 and 40 is 42." in observation


def test_a_loop_with_two_toolboxes_finds_the_one_that_has_the_tool(
    plain: Entry, remote: Callable[[str], Remote], make: Make
) -> None:
    here = make(plain(), toolbox_id="here")
    there = make(remote("mcp-sdk-http").entry, toolbox_id="there")
    brain = Script(
        'Thought: I ask.\nAction: report\nAction Input: {"title": "squares", "numbers": [3]}',
        'Thought: Once more.\nAction: add\nAction Input: {"a": 9, "b": 1}',
        "FINAL_ANSWER: ten",
    )
    engine = ReActLoopEngine(config={})
    engine.load_toolboxes([here, there])
    engine.set_brain(brain)
    assert engine.continue_chat(ask("What is 3 * 3 + 1?")).content == "ten"
    assert '"square": 9' in brain.heard[1][-1].content.replace("\\", "")
    assert "10" in brain.heard[2][-1].content


def test_a_plan_is_carried_out_with_a_tool_of_a_real_server(launch: Entry, make: Make) -> None:
    box = make(launch("everything"))
    brain = Script(
        "1. Add the numbers",
        'Action: get-sum\nAction Input: {"a": 2, "b": 40}',
        "STEP_RESULT: the sum is 42",
        "It is 42.",
    )
    engine = PlanAndExecuteEngine(config={})
    engine.load_toolboxes([box])
    engine.set_brain(brain)
    assert engine.continue_chat(ask("What is 2 + 40?")).content == "It is 42."
    assert "The sum of 2 and 40 is 42." in brain.heard[2][-1].content
