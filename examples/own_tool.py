"""How is a tool of one's own written in Python?

`python examples/own_tool.py`, with toolspan installed for that Python.
"""

import re

import toolspan


def main() -> None:
    with toolspan.connect({"mcpServers": {}}) as host:
        # The whole tool. What a model is told comes from the names, the types and the docstring.
        @host.tool(annotations={"readOnlyHint": True})
        def find_lines(text: str, pattern: str, most: int = 10) -> list[str]:
            """Finds the lines of a text that match a regular expression.

            Args:
                pattern: In the syntax of Python
                most: How many lines to give, from the first one on
            """
            found = [line for line in text.splitlines() if re.search(pattern, line)]
            return found[:most]

        print(f"{host.tools[0].name}{host.tools[0].signature}")
        notes = "buy milk\ncall Ada\nbuy bread"
        print(host.call("find_lines", text=notes, pattern="^buy").structured)

        # Arguments are checked before the function sees them; what it raises is told to the model.
        wrong = {
            "name": "find_lines",
            "arguments": {"text": notes, "pattern": "^buy", "most": "few"},
        }
        print(host.run(wrong).text.splitlines()[0])


if __name__ == "__main__":
    main()
