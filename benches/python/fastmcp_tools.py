"""What does a call of a tool in this process cost with FastMCP, its two ways?

From a model's call, its arguments text, to the text of the message that answers it. `run` is the
tool's own method, which checks the arguments and calls the function; `call` looks the tool up by
its name and passes FastMCP's middleware, of which there is none here. The functions are
asynchronous: others are called in a thread. Without an output schema a result is its text and
nothing beside it.
"""

import asyncio
import json
import sys

import rounds
from fastmcp import FastMCP
from fastmcp.tools import Tool, ToolResult
from pydantic import BaseModel

CALL_ID = "call_1"

# As `benches/src/native.rs` has them.
ARGUMENTS = {
    "flat": {"text": rounds.TEXT, "times": 3, "loud": True},
    "nested": {
        "text": rounds.TEXT,
        "address": {"street": "Main Street", "town": "Here"},
        "orders": [{"item": "bread", "count": 1}, {"item": "milk", "count": 2}],
    },
}

server: FastMCP[None] = FastMCP("own")


class Address(BaseModel):
    street: str
    town: str


class Order(BaseModel):
    item: str
    count: int


@server.tool(output_schema=None)
async def flat(text: str, times: int, loud: bool = False) -> str:
    """Says a text again."""
    return text


@server.tool(output_schema=None)
async def nested(text: str, address: Address, orders: list[Order]) -> str:
    """Says a text again."""
    return text


def message(result: ToolResult) -> str:
    """The message that answers a call."""
    block = result.content[0]
    assert block.type == "text"
    return json.dumps({"role": "tool", "tool_call_id": CALL_ID, "content": block.text})


async def main(way: str, name: str) -> None:
    """Takes all turns."""
    text = json.dumps(ARGUMENTS[name], separators=(",", ":"))
    tool = await server.get_tool(name)
    assert isinstance(tool, Tool)

    async def run() -> str:
        return message(await tool.run(json.loads(text)))

    async def call_tool() -> str:
        return message(await server.call_tool(name, json.loads(text)))

    wanted = json.dumps({"role": "tool", "tool_call_id": CALL_ID, "content": rounds.TEXT})
    await rounds.run_async({"run": run, "call": call_tool}[way], wanted)


asyncio.run(main(*sys.argv[1].split("_")))
