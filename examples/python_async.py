"""How does asynchronous Python code call tools, watch a long call and cancel it?

`cargo build && python examples/python_async.py`, with toolspan installed for that Python.
"""

import asyncio
import sys

import toolspan


async def main(program: str) -> None:
    config = {"mcpServers": {"demo": {"command": program, "args": ["demo-server"]}}}
    async with toolspan.aconnect(config) as host:
        # Calls of one host run at the same time.
        calls = [host.acall("demo__add", a=number, b=number) for number in (1, 2, 3)]
        for total in await asyncio.gather(*calls):
            print("sum:", total.structured["sum"])

        # The callback runs on this loop; of a server that is faster than it, it gets the latest.
        reported = asyncio.Event()

        def watch(progress: toolspan.Progress) -> None:
            reported.set()

        countdown = host.with_options(on_progress=watch).acall("demo__countdown", {"from": 10})
        await reported.wait()
        # The server is told of the end, and goes on as if nothing had been.
        countdown.cancel()
        print("cancelled:", countdown.cancelled())
        print("echo:", (await host.acall("demo__echo", text="still here")).text)


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1] if len(sys.argv) > 1 else "target/debug/toolspan"))
