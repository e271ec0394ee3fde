"""Tools as classes: an action goes in, an executor works, an observation comes out.

>>> from toolspan.tools import Action, Observation, ToolDefinition, ToolExecutor
>>> class GreetAction(Action):
...     name: str
>>> class GreetExecutor(ToolExecutor[GreetAction, Observation]):
...     def __call__(self, action, conversation=None):
...         return Observation.from_text(f"Hello, {action.name}!")
>>> tool = ToolDefinition(name="greet", description="Greets", action_type=GreetAction,
...                       observation_type=Observation, executor=GreetExecutor())
>>> tool(GreetAction(name="Ada")).text
'Hello, Ada!'

``host.add_tool(tool)`` gives it to a host, whose model may call it then. ``register_tool`` makes it
known by a name, for ``resolve_tool`` and for ``host.add_tool(ToolSpec(...))``. For a plain function
see ``host.tool``. ``Action`` and ``Observation`` need pydantic, which is imported with the first of
them.
"""

from __future__ import annotations

from ._annotations import ToolAnnotations
from ._definition import ToolDefinition
from ._executor import ToolExecutor
from ._registry import (
    is_tool_usable,
    list_registered_tools,
    list_usable_tools,
    register_tool,
    resolve_tool,
    unregister_tool,
)
from ._spec import ToolSpec

TYPE_CHECKING = False
if TYPE_CHECKING:
    from ._schema import Action, Observation

__all__ = [
    "Action",
    "Observation",
    "ToolAnnotations",
    "ToolDefinition",
    "ToolExecutor",
    "ToolSpec",
    "is_tool_usable",
    "list_registered_tools",
    "list_usable_tools",
    "register_tool",
    "resolve_tool",
    "unregister_tool",
]


def __getattr__(name: str) -> object:
    if name in ("Action", "Observation"):
        from . import _schema

        found: object = getattr(_schema, name)
        globals()[name] = found
        return found
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
