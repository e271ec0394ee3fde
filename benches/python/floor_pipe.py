"""What is the least a call from Python can cost: the same bytes over a bare pipe, no client?"""

import os
import subprocess

import echo
import rounds

READ_BYTES = 64 << 10


def main() -> None:
    """One write and one read for a call, and a look at every byte."""
    request, command = echo.REQUEST.encode(), [echo.COMMAND, *echo.COMMAND_ARGUMENTS]
    server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert server.stdin is not None and server.stdout is not None
    to_server, from_server = server.stdin.fileno(), server.stdout.fileno()

    def exchange() -> bytes:
        os.write(to_server, request)
        return os.read(from_server, READ_BYTES)

    wanted = exchange()
    if not wanted.endswith(b"\n") or b'"text": "hello"' not in wanted:
        raise SystemExit(f"a call was answered with {wanted!r}")

    def call() -> str:
        return rounds.TEXT if exchange() == wanted else "something else"

    rounds.run(call)
    server.stdin.close()
    server.wait()


main()
