"""By which names do specs find their tools?"""

from __future__ import annotations

import inspect
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from .. import _toolspan
from ._definition import ToolDefinition
from ._spec import ToolSpec

#: Held for looking and changing only.
_LOCK = threading.Lock()
_NAMES = _toolspan._Names()
#: What is behind each registered name: an instance, a class or a factory.
_SOURCES: dict[str, Any] = {}


def register_tool(
    name: str,
    tool: ToolDefinition[Any, Any] | type[ToolDefinition[Any, Any]] | Callable[..., Any],
    *,
    replace: bool = False,
) -> None:
    """Makes a tool known by a name: an instance, a class, or a function that makes it.

    A spec gets the instance itself and may have no parameters. Of a class ``create(conv_state=...,
    **params)`` is called, of a function the same; each gives one tool or several. An alias, such as
    ``execute_bash`` for ``terminal``, and the name of the class find it, too.

    Raises ``UsageError`` where the name is blank, or taken and not to be replaced; ``ValueError``
    for an instance without an executor; ``TypeError`` for what makes no tool.
    """
    class_name = None
    if isinstance(tool, ToolDefinition):
        if tool.executor is None:
            raise ValueError(f"the tool {tool.name!r} has no executor")
        if type(tool) is not ToolDefinition:
            class_name = type(tool).__name__
    elif isinstance(tool, type):
        if not issubclass(tool, ToolDefinition):
            raise TypeError(f"{tool.__qualname__} is no class of a ToolDefinition")
        if getattr(tool.create, "__func__", None) is ToolDefinition.create.__func__:  # type: ignore[attr-defined]
            raise TypeError(f"{tool.__qualname__} does not say how it is created")
        class_name = tool.__name__
    elif not callable(tool):
        raise TypeError(f"{tool!r} makes no tool: give an instance, a class or a function")
    with _LOCK:
        for replaced in _NAMES.register(name, class_name, replace):
            _SOURCES.pop(replaced, None)
        _SOURCES[name] = tool


def unregister_tool(name: str) -> bool:
    """Forgets a registered name. Gives whether there was one."""
    with _LOCK:
        _SOURCES.pop(name, None)
        return _NAMES.unregister(name)


def list_registered_tools() -> list[str]:
    """All registered names, in order."""
    return _NAMES.names()


def list_usable_tools() -> list[str]:
    """The registered names whose tools can be used here, in order."""
    return [name for name in list_registered_tools() if is_tool_usable(name)]


def is_tool_usable(name: str) -> bool:
    """Whether the tools of a name can be used here. Not so when nothing is registered as it."""
    with _LOCK:
        tool = _SOURCES.get(name)
    if tool is None:
        return False
    try:
        return bool(tool.is_usable()) if hasattr(tool, "is_usable") else True
    except Exception:
        return False


def spec_of(spec: ToolSpec | Mapping[str, Any] | str) -> ToolSpec:
    """A spec in any of its forms.

    Raises ``TypeError`` for what is none, ``ValueError`` where it has no name.
    """
    if isinstance(spec, ToolSpec):
        return spec
    if isinstance(spec, str):
        return ToolSpec(spec)
    if isinstance(spec, Mapping):
        return ToolSpec.from_dict(spec)
    raise TypeError(
        f"{spec!r} is no tool: give a ToolDefinition, a ToolSpec or a registered name; "
        "host.tool() takes a function"
    )


def resolve_tool(
    spec: ToolSpec | Mapping[str, Any] | str, conv_state: Any = None
) -> list[ToolDefinition[Any, Any]]:
    """The tools that a spec asks for: one or several.

    Raises ``ToolNotFound`` with the nearest names, ``ValueError`` where an instance is given
    parameters, ``TypeError`` where no tools are made, and whatever the factory raises.
    """
    spec = spec_of(spec)
    with _LOCK:
        tool = _SOURCES[_NAMES.find(spec.name)]
    if isinstance(tool, ToolDefinition):
        if spec.params:
            raise ValueError(f"{spec.name!r} is registered as it is, and takes no params")
        return [tool]
    make: Callable[..., Any] = getattr(tool, "create", tool)
    _refuse_params(spec, make)
    made = make(conv_state=conv_state, **spec.params)
    found = [made] if isinstance(made, ToolDefinition) else made
    is_tools = isinstance(found, Sequence) and all(isinstance(it, ToolDefinition) for it in found)
    if not is_tools:
        raise TypeError(f"what {spec.name!r} is made by gave no tools")
    return list(found)


def _refuse_params(spec: ToolSpec, make: Callable[..., Any]) -> None:
    """Tells of parameters that do not fit by the name of the spec, and of those that would."""
    try:
        signature = inspect.signature(make)
    except (TypeError, ValueError):
        return
    try:
        signature.bind(conv_state=None, **spec.params)
    except TypeError as error:
        known = ", ".join(
            it.name if it.default is it.empty else f"{it.name}={it.default!r}"
            for it in signature.parameters.values()
            if it.name != "conv_state"
        )
        raise TypeError(f"params of {spec.name!r}: {error}; it takes ({known})") from None
