"""What does the smallest MCP server look like that a test can steer?

It speaks MCP over standard input and output with nothing but the standard library, on one thread,
so that it starts in a few hundredths of a second: start it with ``python -S -E plain.py``.

Options, in any order:

``--events FILE``     add a line to FILE for each thing that happens, see below; the variable
                      TOOLSPAN_EVENTS_FILE does the same
``--name TEXT``       the server's name (``plain``)
``--instructions T``  the instructions it gives to its client
``--page N``          list at most N tools a page
``--more N``          list N tools more, ``more_0`` and so on, that return their own name
``--odd-names``       list the tools of ``ODD`` too
``--list-changed``    say that the list of tools can change, and say so when it does
``--silent METHOD``   never answer this method, such as ``initialize`` or ``tools/list``
``--exit CODE``       write a line to standard error and end with CODE before anything is read

Lines of the events file: ``started PID``; ``METHOD`` of each message, for a call with the name of
the tool behind it; ``napping LABEL``, ``woke LABEL``, ``cancelled LABEL`` of a nap; ``ended`` after
the end of the input.
"""

from __future__ import annotations

import json
import os
import select
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

#: The longest line that is read, in bytes: more ends the server.
LONGEST_LINE = 64 << 20

#: One grey pixel.
PIXEL = (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR4nGOoBwAAgQCAQOFqnAAAAABJRU5ErkJggg=="
)

#: One block of each kind, and one of a kind that nobody knows.
BLOCKS: list[dict[str, Any]] = [
    {"type": "text", "text": "words", "annotations": {"audience": ["user"]}},
    {"type": "image", "data": PIXEL, "mimeType": "image/png"},
    {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
    {
        "type": "resource",
        "resource": {"uri": "plain://text", "mimeType": "text/x", "text": "in it"},
    },
    {"type": "resource", "resource": {"uri": "plain://blob", "blob": "AAEC"}},
    {"type": "resource_link", "uri": "plain://link", "name": "a link", "description": "elsewhere"},
    {"type": "hologram", "depth": 3},
]


def schema(required: list[str], **properties: Any) -> dict[str, Any]:
    """An object schema that allows nothing else."""
    return {
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": False,
    }


NUMBER = {"type": "number"}
TEXT = {"type": "string"}
NESTED = schema(
    ["a", "b"],
    a=NUMBER,
    b={"type": "number", "description": "The second summand"},
    options={"$ref": "#/$defs/Options"},
) | {
    "$defs": {
        "Options": schema(
            [],
            scale={"type": "number", "default": 1, "minimum": 0},
            unit={"type": "string", "enum": ["m", "km"]},
            tags={"type": "array", "items": TEXT, "maxItems": 3},
        )
    }
}

#: Name, description and input schema of each tool.
TOOLS: list[tuple[str, str, dict[str, Any]]] = [
    ("echo", "Returns its text", schema(["text"], text=TEXT)),
    ("add", "Adds two numbers", NESTED),
    ("nap", "Answers after some seconds", schema(["seconds"], seconds=NUMBER, label=TEXT)),
    ("progress", "Reports its steps", schema(["steps"], steps={"type": "integer", "minimum": 0})),
    ("log", "Logs a message", schema(["text"], text=TEXT, level=TEXT)),
    ("count", "Counts its calls", schema([])),
    ("null", "Says what it got", schema([], value={"type": ["string", "null"], "default": None})),
    ("any", "Returns its arguments as JSON", {"type": "object"}),
    ("fail", "Reports a failure", schema(["text"], text=TEXT)),
    ("refuse", "Answers with an error of the protocol", schema(["text"], text=TEXT)),
    ("blocks", "Returns a block of each kind", schema([])),
    ("meta", "Returns the _meta of its call as JSON", schema([])),
    ("variable", "Returns a variable of its environment", schema(["name"], name=TEXT)),
    ("pid", "Returns the number of its process", schema([])),
    ("grow", "Adds a tool, in place of one of that name", schema(["name"], name=TEXT)),
    ("exit", "Ends the server without an answer", schema(["code"], code={"type": "integer"})),
]

#: Tools and arguments whose names are no identifiers, or mean something in Python or pydantic.
ODD: list[tuple[str, str, dict[str, Any]]] = [
    ("get.weather", "Has a dot", schema(["city"], city=TEXT)),
    ("class", "Is a keyword", schema(["class"], **{"class": TEXT, "with space": TEXT})),
    ("with space", "Has a blank", schema([], **{"from": TEXT, "a-b": TEXT, "1st": TEXT})),
    (
        "reserved",
        "Has arguments that are taken in Python",
        schema(["schema"], **dict.fromkeys(["model_config", "schema", "_x", "self", "args"], TEXT)),
    ),
]

SUM = schema(["sum"], sum=NUMBER)


class Server:
    """The state of one server."""

    def __init__(self, options: dict[str, str]) -> None:
        self.options = options
        self.events = options.get("events") or os.environ.get("TOOLSPAN_EVENTS_FILE")
        self.tools = [*TOOLS, *(ODD if "odd-names" in options else [])]
        more = int(options.get("more", 0))
        self.tools += [(f"more_{number}", "One of many", schema([])) for number in range(more)]
        self.calls = 0
        #: Id of the request, and when its nap is over by the monotonic clock, with its label.
        self.naps: dict[Any, tuple[float, str]] = {}

    def run(self) -> None:
        """Serves until the end of the input; naps that are still going on end with it."""
        self.note(f"started {os.getpid()}")
        waiting = b""
        while len(waiting) < LONGEST_LINE:
            readable, _, _ = select.select([0], [], [], self.until_next_nap())
            self.wake()
            if not readable:
                continue
            read = os.read(0, 1 << 16)
            if not read:
                break
            *lines, waiting = (waiting + read).split(b"\n")
            for line in lines:
                if line.strip():
                    self.receive(json.loads(line))
        self.note("ended")

    def until_next_nap(self) -> float | None:
        ends = [end for end, _ in self.naps.values()]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def wake(self) -> None:
        """Answers the naps that are over."""
        now = time.monotonic()
        for request, (_, label) in [nap for nap in self.naps.items() if nap[1][0] <= now]:
            del self.naps[request]
            self.note(f"woke {label}")
            self.answer(request, text(label))

    def receive(self, message: dict[str, Any]) -> None:
        method, parameters = message.get("method"), message.get("params") or {}
        tool = parameters.get("name") if method == "tools/call" else None
        self.note(f"{method} {tool}" if tool else str(method))
        if method == self.options.get("silent"):
            return
        if method == "notifications/cancelled":
            nap = self.naps.pop(parameters.get("requestId"), None)
            if nap is not None:
                self.note(f"cancelled {nap[1]}")
        elif method == "tools/call":
            self.call(message["id"], str(tool), parameters)
        elif "id" in message and method is not None:
            result = self.result(method, parameters)
            if result is None:
                self.refuse(message["id"], -32601, f"no method {method}")
            else:
                self.answer(message["id"], result)

    def result(self, method: str, parameters: dict[str, Any]) -> dict[str, Any] | None:
        """The answer to a request that is no call; nothing where the method is not known."""
        if method == "initialize":
            about = {
                "protocolVersion": parameters.get("protocolVersion", "2025-06-18"),
                "capabilities": {
                    "tools": {"listChanged": "list-changed" in self.options},
                    "logging": {},
                },
                "serverInfo": {"name": self.options.get("name", "plain"), "version": "1.0"},
            }
            if "instructions" in self.options:
                about["instructions"] = self.options["instructions"]
            return about
        if method in ("ping", "logging/setLevel"):
            return {}
        if method == "tools/list":
            return self.page(int(parameters.get("cursor") or 0))
        return None

    def page(self, begin: int) -> dict[str, Any]:
        end = begin + int(self.options.get("page", len(self.tools)))
        listed = []
        for name, description, takes in self.tools[begin:end]:
            tool: dict[str, Any] = {"name": name, "description": description, "inputSchema": takes}
            if name == "add":
                tool["outputSchema"] = SUM
            if name in ("echo", "add"):
                tool["annotations"] = {"title": name.title(), "readOnlyHint": True}
            listed.append(tool)
        page: dict[str, Any] = {"tools": listed}
        if end < len(self.tools):
            page["nextCursor"] = str(end)
        return page

    def call(self, request: Any, tool: str, parameters: dict[str, Any]) -> None:
        arguments = parameters.get("arguments") or {}
        meta = parameters.get("_meta") or {}
        if tool == "nap":
            label = arguments.get("label", "")
            self.naps[request] = (time.monotonic() + arguments["seconds"], label)
            self.note(f"napping {label}")
        elif tool == "refuse":
            self.refuse(request, -32000, arguments["text"])
        elif tool == "exit":
            sys.stderr.write("plain: told to exit\n")
            sys.stderr.flush()
            os._exit(arguments["code"])
        elif tool in [name for name, _, _ in self.tools]:
            self.before(tool, arguments, meta)
            self.answer(request, self.observation(tool, arguments, meta))
        else:
            self.refuse(request, -32602, f"no tool {tool}")

    def before(self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]) -> None:
        """Tells the client what comes before an answer."""
        if tool == "progress" and "progressToken" in meta:
            steps = arguments["steps"]
            for step in range(1, steps + 1):
                report = {"progressToken": meta["progressToken"], "progress": step, "total": steps}
                self.tell("progress", report | {"message": f"step {step}"})
        elif tool == "log":
            level = arguments.get("level", "info")
            self.tell("message", {"level": level, "logger": "plain", "data": arguments["text"]})
        elif tool == "grow":
            others = [tool for tool in self.tools if tool[0] != arguments["name"]]
            self.tools = [*others, (arguments["name"], "Was added later", schema([]))]
            if "list-changed" in self.options:
                self.tell("tools/list_changed", {})

    def observation(
        self, tool: str, arguments: dict[str, Any], meta: dict[str, Any]
    ) -> dict[str, Any]:
        if tool == "add":
            scale = (arguments.get("options") or {}).get("scale", 1)
            total = (arguments["a"] + arguments["b"]) * scale
            return text(json.dumps({"sum": total})) | {"structuredContent": {"sum": total}}
        if tool == "count":
            self.calls += 1
            return text(str(self.calls))
        if tool == "null":
            return text(json.dumps(arguments["value"]) if "value" in arguments else "missing")
        if tool == "fail":
            return text(arguments["text"]) | {"isError": True}
        if tool == "blocks":
            return {"content": BLOCKS, "_meta": {"plain/extra": 1}}
        if tool == "meta":
            return text(json.dumps(meta, sort_keys=True))
        if tool == "variable":
            return text(os.environ.get(arguments["name"], "missing"))
        if tool == "pid":
            return text(str(os.getpid()))
        if tool in ("echo", "log"):
            return text(arguments["text"])
        if tool == "any" or tool in [name for name, _, _ in ODD]:
            return text(json.dumps(arguments, sort_keys=True))
        return text(tool)

    def tell(self, method: str, parameters: dict[str, Any]) -> None:
        self.write({"method": f"notifications/{method}", "params": parameters})

    def answer(self, request: Any, result: dict[str, Any]) -> None:
        self.write({"id": request, "result": result})

    def refuse(self, request: Any, code: int, message: str) -> None:
        self.write({"id": request, "error": {"code": code, "message": message}})

    def write(self, message: dict[str, Any]) -> None:
        line = json.dumps({"jsonrpc": "2.0"} | message, separators=(",", ":")).encode() + b"\n"
        while line:
            line = line[os.write(1, line) :]

    def note(self, line: str) -> None:
        """Adds a line to the events file, in one write, so that a reader never sees half a line."""
        if self.events:
            with open(self.events, "ab", buffering=0) as file:
                file.write(f"{line}\n".encode())


def text(words: str) -> dict[str, Any]:
    """A result of one text."""
    return {"content": [{"type": "text", "text": words}]}


def options(words: list[str]) -> dict[str, str]:
    """Reads the command line: ``--name value``, or ``--name`` alone."""
    found: dict[str, str] = {}
    rest = iter(words)
    for word in rest:
        name = word.removeprefix("--")
        alone = name in ("odd-names", "list-changed")
        found[name] = "" if alone else next(rest)
    return found


def main() -> None:
    chosen = options(sys.argv[1:])
    if "exit" in chosen:
        sys.stderr.write("plain: this server does not want to start\n")
        sys.stderr.flush()
        os._exit(int(chosen["exit"]))
    Server(chosen).run()


if __name__ == "__main__":
    main()
