"""What do pydantic types of recorded tools cost, and the tools in the forms of five APIs?

The types are FastMCP's, which check what a schema says. The forms are pydantic-ai's, by its
defaults: for each of OpenAI's two APIs, for Anthropic and for Gemini. MCP's form is the schema.
"""

from __future__ import annotations

import warnings
from typing import Any

import recorded
from fastmcp.utilities import json_schema_type
from pydantic_ai.profiles.google import GoogleJsonSchemaTransformer
from pydantic_ai.profiles.openai import OpenAIJsonSchemaTransformer
from pydantic_ai.providers.anthropic import AnthropicJsonSchemaTransformer

TOOLS = recorded.tools()


def open_ai(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool for OpenAI's Chat API."""
    schema = OpenAIJsonSchemaTransformer(tool["inputSchema"], strict=None).walk()
    function = {"name": tool["name"], "description": described(tool), "parameters": schema}
    return {"type": "function", "function": function}


def responses(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool for OpenAI's Responses API."""
    schema = OpenAIJsonSchemaTransformer(tool["inputSchema"], strict=None).walk()
    named = {"name": tool["name"], "description": described(tool)}
    return {"type": "function", **named, "parameters": schema, "strict": False}


def anthropic(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool for Anthropic's API."""
    schema = AnthropicJsonSchemaTransformer(tool["inputSchema"], strict=None).walk()
    return {"name": tool["name"], "description": described(tool), "input_schema": schema}


def gemini(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool for Gemini's API."""
    schema = GoogleJsonSchemaTransformer(tool["inputSchema"], strict=None).walk()
    named = {"name": tool["name"], "description": described(tool)}
    return {**named, "parametersJsonSchema": schema}


def mcp(tool: dict[str, Any]) -> dict[str, Any]:
    """A tool as a server lists it."""
    named = {"name": tool["name"], "description": described(tool)}
    return {**named, "inputSchema": tool["inputSchema"]}


def described(tool: dict[str, Any]) -> str:
    """What a model is told of a tool."""
    text: str = tool.get("description", "")
    return text


def work() -> object:
    """All types and all forms."""
    types = [json_schema_type.json_schema_to_type_adapter(tool["inputSchema"]) for tool in TOOLS]
    forms = (open_ai, responses, anthropic, gemini, mcp)
    return types, [[form(tool) for tool in TOOLS] for form in forms]


def forget() -> None:
    """Empties what FastMCP keeps of the schemas it has seen."""
    json_schema_type._adapters.clear()
    json_schema_type._classes.clear()


# It warns where it drops a pattern that Rust's expressions do not have.
warnings.simplefilter("ignore")
recorded.run(work, forget)
