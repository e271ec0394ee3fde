"""How does an agent of OVOS use the tools of an MCP server?

`cargo build && python examples/ovos_toolbox.py`, with toolspan, its extra `ovos` and
ovos-agentic-loop installed for that Python.

A script stands in for the language model. It answers as the ReAct loop asks models to.
"""

import sys

from ovos_agentic_loop.react import ReActLoopEngine
from ovos_plugin_manager.templates.agents import AgentMessage, ChatEngine, MessageRole
from toolspan.ovos import MCPToolBox

ANSWERS = [
    'Thought: I add them.\nAction: add\nAction Input: {"a": 2, "b": 40}',
    "Thought: I know enough.\nFINAL_ANSWER: It is 42.",
]


class ScriptedModel(ChatEngine):
    """Here OVOS asks a language model."""

    def continue_chat(self, messages, session_id="default", lang=None, units=None, tools=None):
        if messages[-1].content.startswith("Observation:"):
            print(messages[-1].content)
        turn = sum(message.role == MessageRole.ASSISTANT for message in messages)
        return AgentMessage(role=MessageRole.ASSISTANT, content=ANSWERS[turn])


def main(program: str) -> None:
    # The same keys as in the JSON of a persona, where OPM finds the class by `ovos-mcp-toolbox`.
    config = {"transport": "stdio", "command": program, "args": ["demo-server"]}
    toolbox = MCPToolBox(config=config)

    loop = ReActLoopEngine()
    loop.load_toolboxes([toolbox])
    loop.set_brain(ScriptedModel())
    question = AgentMessage(role=MessageRole.USER, content="What is 2 + 40?")
    print("answer:", loop.continue_chat([question]).content)

    toolbox.close()


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "target/debug/toolspan")
