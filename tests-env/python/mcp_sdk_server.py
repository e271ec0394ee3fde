"""A real server on the official SDK of the older generation (mcp 1.x), over streamable HTTP.

It serves at `/mcp` of 127.0.0.1 with sessions; port 0 is any free one. `--json` answers calls with
JSON instead of an event stream, `--stateless` keeps no session. Cancellation is observable from
outside: `slow` appends one line, `cancelled <label>`, to the file that the variable
TOOLSPAN_CANCELLED_FILE names.
"""

import argparse
import asyncio
import os
from typing import Annotated

from mcp.server.fastmcp import Context, FastMCP
from pydantic import BaseModel, Field

server = FastMCP("sdk", host="127.0.0.1")


class Report(BaseModel):
    """What `report` answers: structured output with a nested list."""

    title: str
    rows: list[dict[str, int]]


@server.tool()
def echo(text: str) -> str:
    """Returns its text."""
    return text


@server.tool()
def report(title: str, numbers: list[int]) -> Report:
    """Returns structured output that follows its output schema."""
    return Report(title=title, rows=[{"number": n, "square": n * n} for n in numbers])


@server.tool()
def crash(message: str) -> str:
    """Raises an exception; the SDK makes a tool error of it."""
    raise ValueError(message)


@server.tool()
def header(name: str, context: Context) -> str | None:
    """Returns a header of the HTTP request that called; nothing where there is none."""
    return context.request_context.request.headers.get(name)


@server.tool()
async def nap(label: str, seconds: float = 1.0) -> str:
    """Returns the label after a second."""
    await asyncio.sleep(seconds)
    return label


@server.tool()
async def count(to: Annotated[int, Field(ge=0, le=1000)], context: Context) -> int:
    """Counts up, with one progress notice for each step."""
    for step in range(1, to + 1):
        await context.report_progress(step, to, f"step {step}")
    return to


@server.tool()
async def slow(label: str, context: Context, seconds: float = 3600.0) -> str:
    """Reports progress once, then waits; a withdrawn call is written down."""
    await context.report_progress(0, 1, "waiting")
    try:
        await asyncio.sleep(seconds)
    except asyncio.CancelledError:
        path = os.environ.get("TOOLSPAN_CANCELLED_FILE")
        if path:
            with open(path, "a", encoding="utf-8") as file:
                file.write(f"cancelled {label}\n")
        raise
    return label


def main() -> None:
    arguments = argparse.ArgumentParser()
    arguments.add_argument("port", type=int)
    arguments.add_argument("--json", action="store_true")
    arguments.add_argument("--stateless", action="store_true")
    chosen = arguments.parse_args()
    server.settings.port = chosen.port
    server.settings.json_response = chosen.json
    server.settings.stateless_http = chosen.stateless
    server.run(transport="streamable-http")


if __name__ == "__main__":
    main()
