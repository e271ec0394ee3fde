"""What does a call through the `ClientSession` of the official SDK cost, in its own loop?"""

import asyncio

import echo
import rounds
from mcp import ClientSession, StdioServerParameters
from mcp.client.stdio import stdio_client


async def main() -> None:
    """Takes all turns on one session."""
    server = StdioServerParameters(command=echo.COMMAND, args=echo.COMMAND_ARGUMENTS)
    async with stdio_client(server) as streams, ClientSession(*streams) as session:
        await session.initialize()

        async def call() -> str:
            result = await session.call_tool("echo", echo.ARGUMENTS)
            block = result.content[0]
            assert block.type == "text"
            return block.text

        await rounds.run_async(call)


asyncio.run(main())
