"""What does a call through FastMCP's client cost, in its own loop?"""

import asyncio

import echo
import rounds
from fastmcp import Client
from fastmcp.client.transports import StdioTransport


async def main() -> None:
    """Takes all turns on one session."""
    transport = StdioTransport(command=echo.COMMAND, args=echo.COMMAND_ARGUMENTS)
    async with Client(transport) as client:

        async def call() -> str:
            result = await client.call_tool("echo", echo.ARGUMENTS)
            block = result.content[0]
            assert block.type == "text"
            text: str = block.text
            return text

        await rounds.run_async(call)


asyncio.run(main())
