"""Which MCP server tells a test what reaches it, and answers when the test says so?

What happens is written to the named pipe ``STAGE``, one JSON object a line: ``begin``, ``list``,
``call``, ``cancelled``, ``end`` (of its input). Options: ``silent`` answers no ``initialize``,
``stubborn`` outlives the end of its input and SIGTERM, ``hold-lists`` answers the first list alone,
``grandchild`` starts a process of its own, in a session of its own.
"""

import json
import os
import select
import signal
import sys
import time

TEXT = {"type": "string"}
SCHEMA = {
    "type": "object",
    "properties": {
        "text": TEXT,
        "progress": {"type": "integer", "description": "how many reports go before the answer"},
        "every": {"type": "number", "description": "seconds between these"},
        "log": {**TEXT, "description": "a log message that goes before the answer"},
        "seconds": {"type": "number"},
    },
}
TOOLS = {
    "echo": "Answers its text.",
    "hold": "Answers once `release` is called.",
    "release": "Lets all held calls be answered.",
    "work": "Answers after so many seconds.",
    "die": "Ends the server.",
}
PIPE = os.open(os.environ["STAGE"], os.O_WRONLY)


def tell(event, **members):
    """Writes one line, which no other writer of the pipe can tear: it is short."""
    line = json.dumps({"event": event, "pid": os.getpid(), **members}) + "\n"
    os.write(PIPE, line.encode())


def send(**message):
    data = (json.dumps({"jsonrpc": "2.0", **message}) + "\n").encode()
    while data:
        data = data[os.write(1, data) :]


def text_result(text):
    return {"content": [{"type": "text", "text": text}]}


class Stage:
    """The calls that are not answered yet, and what is to be done later."""

    def __init__(self, options):
        self.options = options
        self.open = {}
        self.later = []
        self.lists = 0

    def take(self, message):
        method, params = message.get("method"), message.get("params", {})
        if method == "notifications/cancelled":
            tool = self.open.pop(params["requestId"], None)
            tell("cancelled", tool=tool)
        elif method == "initialize":
            tell("begin")
            if "silent" not in self.options:
                send(id=message["id"], result=self.greeting(params))
        elif method == "tools/list":
            self.lists += 1
            tell("list")
            if self.lists == 1 or "hold-lists" not in self.options:
                send(id=message["id"], result={"tools": self.tools()})
        elif method == "tools/call":
            self.call(message["id"], params)
        elif "id" in message:
            send(id=message["id"], result={})

    def greeting(self, params):
        return {
            "protocolVersion": params["protocolVersion"],
            "capabilities": {"tools": {}, "logging": {}},
            "serverInfo": {"name": "stage", "version": "1"},
        }

    def tools(self):
        return [
            {"name": name, "description": text, "inputSchema": SCHEMA}
            for name, text in TOOLS.items()
        ]

    def call(self, number, params):
        name, arguments = params["name"], params.get("arguments", {})
        if name != "echo":
            tell("call", tool=name)
        self.open[number] = name
        if "log" in arguments:
            data = {"level": "info", "data": arguments["log"]}
            send(method="notifications/message", params=data)
        token = params.get("_meta", {}).get("progressToken")
        every = arguments.get("every", 0)
        steps = arguments.get("progress", 0)
        for step in range(1, steps + 1):
            told = {"step": step, "text": arguments.get("text")}
            self.after(every * step, self.report, number, token, steps, told)
        self.after(every * steps, self.last, number, name, arguments)

    def report(self, number, token, steps, told):
        if number not in self.open:
            return
        if token is not None:
            params = {"progressToken": token, "progress": told["step"], "total": steps}
            send(method="notifications/progress", params=params)
        tell("progress", **told)

    def last(self, number, name, arguments):
        if name == "echo":
            self.answer(number, arguments.get("text", ""))
        elif name == "work":
            self.after(arguments["seconds"], self.answer, number, "worked")
        elif name == "release":
            for held in [held for held, tool in self.open.items() if tool == "hold"]:
                self.answer(held, "released")
            self.answer(number, "")
        elif name == "die":
            os._exit(1)

    def answer(self, number, text):
        if self.open.pop(number, None):
            send(id=number, result=text_result(text))

    def after(self, seconds, action, *arguments):
        if seconds == 0:
            action(*arguments)
        else:
            self.later.append((time.monotonic() + seconds, action, arguments))

    def until_next(self):
        if not self.later:
            return None
        return max(0.0, min(when for when, _, _ in self.later) - time.monotonic())

    def do_due(self):
        now = time.monotonic()
        due = sorted((entry for entry in self.later if entry[0] <= now), key=lambda entry: entry[0])
        self.later = [entry for entry in self.later if entry[0] > now]
        for _, action, arguments in due:
            action(*arguments)

    def run(self):
        rest = b""
        while True:
            ready, _, _ = select.select([0], [], [], self.until_next())
            self.do_due()
            if not ready:
                continue
            data = os.read(0, 65536)
            if not data:
                return
            *lines, rest = (rest + data).split(b"\n")
            for line in lines:
                self.take(json.loads(line))


def start_grandchild():
    """A process that only a signal ends, and that left the group of its parent."""
    if os.fork() == 0:
        os.setsid()
        os.close(0)
        os.close(1)
        tell("grandchild")
        while True:
            signal.pause()


def main():
    options = sys.argv[1:]
    if "grandchild" in options:
        start_grandchild()
    if "stubborn" in options:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    try:
        Stage(options).run()
    except BrokenPipeError:
        pass
    tell("end")
    while "stubborn" in options:
        signal.pause()


main()
