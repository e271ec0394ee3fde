"""How does a Python program call a tool of an MCP server?

`cargo build && python examples/python_call.py`, with toolspan installed for that Python.
"""

import sys

import toolspan


def main(program: str) -> None:
    # The server of `toolspan demo`. Any other one is named in the same way.
    config = {"mcpServers": {"demo": {"command": program, "args": ["demo-server"]}}}
    with toolspan.connect(config) as host:
        for tool in host.tools:
            print(f"{tool.name}{tool.signature}")

        # An observation means that the tool answered, also when it says that it failed.
        total = host.call("demo__add", a=2, b=40)
        print("text:", total.text)
        print("sum:", total.structured["sum"])

        # Everything else is an error, which says what was wrong and how far the call came.
        try:
            host.call("demo__add", a="two", b=40)
        except toolspan.InvalidArguments as error:
            print(f"{error.kind}, {error.outcome}: {error}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "target/debug/toolspan")
