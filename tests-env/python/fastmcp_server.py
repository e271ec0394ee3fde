"""A real FastMCP server with schemas that are odd but legal.

Without arguments it serves over stdio; `--http PORT` and `--sse PORT` serve at `/mcp` and `/sse` of
127.0.0.1, where port 0 is any free one. Cancellation is observable from outside: `slow` appends one
line, `cancelled <label>`, to the file that the variable TOOLSPAN_CANCELLED_FILE names, as soon as
the client withdraws the call.
"""

import argparse
import asyncio
import base64
import datetime
import os
from typing import Annotated, Any, Literal

from fastmcp import Context, FastMCP
from fastmcp.exceptions import ToolError
from fastmcp.server.dependencies import get_http_headers
from fastmcp.utilities.types import Image
from pydantic import BaseModel, Field

# One grey pixel.
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR4nGOoBwAAgQCAQOFqnAAAAABJRU5ErkJggg=="
)

# References stay references: the client has to resolve them, recursion included.
server = FastMCP("odd", version="1.0", dereference_schemas=False)


class Node(BaseModel):
    """A tree: its schema refers to itself."""

    name: str
    children: list["Node"] = []


class Dog(BaseModel):
    kind: Literal["dog"]
    bark: int


class Cat(BaseModel):
    kind: Literal["cat"]
    meow: float


class Report(BaseModel):
    """What `report` answers: structured output with a nested list."""

    title: str
    rows: list[dict[str, int]]


@server.tool(annotations={"readOnlyHint": True, "idempotentHint": True})
def tree(root: Node) -> Node:
    """Returns the tree it is given (recursive $ref, in and out)."""
    return root


@server.tool
def pet(animal: Annotated[Dog | Cat, Field(discriminator="kind")]) -> str:
    """Says what the animal says (oneOf with a constant in each branch)."""
    return f"{animal.kind} {animal.bark if isinstance(animal, Dog) else animal.meow}"


@server.tool
def pair(values: tuple[int, str]) -> list[Any]:
    """Returns a pair: an integer, then a text (prefixItems)."""
    return list(values)


@server.tool
def options(
    maybe: int | None = None,
    either: int | str = 3,
    colour: Literal["red", "green"] = "red",
    anything: dict[str, Any] = {},
    untyped: list[Any] = [],
    distinct: set[int] = set(),
    counts: dict[str, int] = {},
) -> dict[str, Any]:
    """Returns the arguments after defaults: every one is optional."""
    return {
        "maybe": maybe,
        "either": either,
        "colour": colour,
        "anything": anything,
        "untyped": untyped,
        "distinct": sorted(distinct),
        "counts": counts,
    }


@server.tool
def dates(day: datetime.date, moment: datetime.datetime, length: datetime.timedelta) -> str:
    """Adds a length to a moment (formats date, date-time, duration)."""
    return f"{day.isoformat()} {(moment + length).isoformat()}"


@server.tool
def nothing() -> None:
    """Takes nothing and returns nothing."""


@server.tool
def image() -> Image:
    """Returns an image of one pixel."""
    return Image(data=PIXEL, format="png")


@server.tool
def report(title: str, numbers: list[int]) -> Report:
    """Returns structured output that follows its output schema."""
    return Report(title=title, rows=[{"number": n, "square": n * n} for n in numbers])


@server.tool
def fail(message: str) -> str:
    """Fails with the message it is given."""
    raise ToolError(message)


@server.tool
def crash(message: str) -> str:
    """Raises an exception that is no tool error."""
    raise ValueError(message)


@server.tool
def header(name: str) -> str | None:
    """Returns a header of the HTTP request that called; nothing where there is none."""
    return get_http_headers(include_all=True).get(name.lower())


@server.tool
async def nap(label: str, seconds: float = 1.0) -> str:
    """Returns the label after a second."""
    await asyncio.sleep(seconds)
    return label


@server.tool
async def count(to: Annotated[int, Field(ge=0, le=1000)], context: Context) -> int:
    """Counts up, with one progress notice for each step."""
    for step in range(1, to + 1):
        await context.report_progress(step, to, f"step {step}")
    return to


@server.tool
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
    arguments.add_argument("--http", type=int, metavar="PORT")
    arguments.add_argument("--sse", type=int, metavar="PORT")
    chosen = arguments.parse_args()
    if chosen.http is not None:
        server.run(transport="http", host="127.0.0.1", port=chosen.http, show_banner=False)
    elif chosen.sse is not None:
        server.run(transport="sse", host="127.0.0.1", port=chosen.sse, show_banner=False)
    else:
        server.run(transport="stdio", show_banner=False)


if __name__ == "__main__":
    main()
