"""How does a function become a tool of a host?"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeVar

from ._run import DefinedRunner, Runner
from ._signature import LocalNames, describe
from ._toolspan import Host, _Job

FunctionT = TypeVar("FunctionT", bound=Callable[..., Any])


def decorate(
    host: Host,
    function: FunctionT | None,
    name: str | None,
    description: str | None,
    annotations: Any,
    resources: Iterable[str] | None,
) -> Any:
    """What ``host.tool`` is: a decorator, or what it decorates."""
    if function is not None:
        return add(host, function, name, description, annotations, resources, _local_names())

    def decorator(function: FunctionT) -> FunctionT:
        add(host, function, name, description, annotations, resources, _local_names())
        return function

    return decorator


def _local_names() -> LocalNames:
    """The local names of the program where it makes the tool."""
    return LocalNames(sys._getframe(2))


def add(
    host: Host,
    function: FunctionT,
    name: str | None,
    description: str | None,
    annotations: Any,
    resources: Iterable[str] | None,
    names: LocalNames,
) -> FunctionT:
    """Adds a function to the tools of a host, and gives it back."""
    described = describe(function, name=name, description=description, names=names)

    def prepare(job: _Job) -> tuple[list[Any], dict[str, Any]]:
        positional, named = described.arguments(job.arguments)
        if described.context is not None:
            if described.is_context_positional:
                positional.insert(0, job.context)
            else:
                named[described.context] = job.context
        return positional, named

    definition: dict[str, Any] = {
        "name": described.name,
        "description": described.description,
        "inputSchema": described.schema,
    }
    if described.output is not None:
        definition["outputSchema"] = described.output
    if annotations is not None:
        definition["annotations"] = hints(annotations)
    if isinstance(resources, str):
        raise TypeError(f"resources are several texts: write resources=[{resources!r}]")
    keys = [] if resources is None else list(resources)
    runner = Runner(described.name, function, described.is_async, prepare)
    host._add_tool(definition, runner, keys, False)
    return function


def add_defined(host: Host, tool: Any, conv_state: Any) -> list[str]:
    """What ``host.add_tool`` is: adds a tool, or those of a spec, and gives their names."""
    from .tools import ToolDefinition, resolve_tool

    tools = [tool] if isinstance(tool, ToolDefinition) else resolve_tool(tool, conv_state)
    names: list[str] = []
    try:
        for defined in tools:
            runner = DefinedRunner(defined)
            own = type(defined).declared_resources
            declares = own is not ToolDefinition.declared_resources
            host._add_tool(defined.to_mcp_tool(), runner, None, True, declares)
            names.append(defined.name)
    except BaseException:
        # One spec is one wish.
        for name in names:
            host.remove_tool(name)
        raise
    return names


def hints(annotations: Any) -> dict[str, Any]:
    """What is said of a tool's effects, as MCP writes it."""
    written = getattr(annotations, "to_dict", None)
    if written is not None:
        annotations = written()
    if not isinstance(annotations, Mapping):
        raise TypeError("annotations must be ToolAnnotations or a dict, such as readOnlyHint: True")
    return dict(annotations)
