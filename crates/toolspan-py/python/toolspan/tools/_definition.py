"""What is a tool, beside the work that it does?"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Generic, TypeVar

from .. import _toolspan
from .._kind import Definitions
from .._types import kind_of
from ._annotations import ToolAnnotations
from ._executor import ToolExecutor, beside_action

ActionT = TypeVar("ActionT")
ObservationT = TypeVar("ObservationT")
ToolT = TypeVar("ToolT", bound="ToolDefinition[Any, Any]")


class ToolDefinition(Generic[ActionT, ObservationT]):
    """A tool: its words, its types and its executor. It never changes.

    A simple tool is an instance of this class. One that has parameters or state is a subclass with
    a ``create`` of its own, and is named after it where it says no other ``name``:
    ``TerminalTool`` is ``terminal``.
    """

    #: The name of a subclass's tools, unless they say another one.
    name: str

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if "name" not in cls.__dict__:
            cls.name = _toolspan._tool_name(cls.__name__)

    def __init__(
        self,
        *,
        description: str,
        action_type: type[ActionT],
        observation_type: type[ObservationT] | None = None,
        executor: ToolExecutor[Any, Any] | None = None,
        annotations: ToolAnnotations | None = None,
        meta: Mapping[str, Any] | None = None,
        name: str | None = None,
    ) -> None:
        if name is None and type(self) is ToolDefinition:
            raise ValueError("a tool that is no class of its own needs a name")
        members = {
            "description": description,
            "action_type": action_type,
            "observation_type": observation_type,
            "executor": executor,
            "annotations": annotations,
            "meta": None if meta is None else dict(meta),
        }
        if name is not None:
            members["name"] = name
        self.__dict__.update(members)
        if not self.name.strip():
            raise ValueError("the name of the tool is blank")

    description: str
    action_type: type[ActionT]
    observation_type: type[ObservationT] | None
    executor: ToolExecutor[Any, Any] | None
    annotations: ToolAnnotations | None
    meta: dict[str, Any] | None

    def __setattr__(self, name: str, value: Any) -> None:
        raise AttributeError(f"a tool never changes: make another one to give it {name}")

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.__dict__ == other.__dict__

    def __hash__(self) -> int:
        return hash((type(self), self.name))

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}>"

    @classmethod
    def create(cls, *args: Any, **params: Any) -> Sequence[ToolDefinition[Any, Any]]:
        """Makes the tools of a spec: one or several. A subclass says how.

        It is given the parameters of the spec and ``conv_state``, all of them by keyword.
        """
        raise NotImplementedError(f"{cls.__name__} does not say how it is created")

    @classmethod
    def is_usable(cls) -> bool:
        """Whether its tools can be used here, such as whether a program they need is there."""
        return True

    @property
    def title(self) -> str:
        """Its name for people."""
        return (self.annotations and self.annotations.title) or self.name

    def declared_resources(self, action: ActionT) -> Iterable[str] | None:
        """What a call must have for itself. ``None``: calls run one after the other."""
        return None

    def set_executor(self: ToolT, executor: ToolExecutor[Any, Any]) -> ToolT:
        """The same tool with another executor."""
        made = copy.copy(self)
        made.__dict__["executor"] = executor
        return made

    def as_executable(self: ToolT) -> ToolT:
        """The tool itself. Raises ``NotImplementedError`` where it has no executor."""
        if self.executor is None:
            raise NotImplementedError(f"the tool {self.name!r} has no executor")
        return self

    def action_from_arguments(self, arguments: Mapping[str, Any]) -> ActionT:
        """The action of arguments. Raises ``ValueError`` where they are none of it."""
        made: ActionT = kind_of(self.action_type, Definitions()).make(dict(arguments))
        return made

    def __call__(self, action: ActionT, conversation: Any = None) -> Any:
        """Runs the tool here and gives its observation; what the executor raises is raised."""
        executor = self.as_executable().executor
        assert executor is not None
        positional, named = beside_action(executor, conversation)
        result = executor(action, *positional, **named)
        if inspect.isawaitable(result):
            return self._awaited(result)
        return self.observation_of(result)

    async def _awaited(self, result: Any) -> Any:
        return self.observation_of(await result)

    def observation_of(self, result: Any) -> Any:
        """What an executor gave as the observation that the tool promises.

        Raises ``TypeError`` for what is none.
        """
        from . import Observation

        if isinstance(result, _toolspan.Observation):
            return result
        wanted = self.observation_type
        if wanted is not None:
            if isinstance(result, wanted):
                return result
            return kind_of(wanted, Definitions()).make(_members_of(result, wanted))
        if isinstance(result, Observation):
            return result
        return Observation.model_validate(_members_of(result, Observation))

    def to_mcp_tool(self) -> dict[str, Any]:
        """The tool as MCP writes it."""
        definitions = Definitions()
        kind = kind_of(self.action_type, definitions)
        written: dict[str, Any] = {
            "name": self.name,
            "description": self.description,
            "inputSchema": definitions.closed(kind.schema),
        }
        if self.observation_type is not None and (output := self._output()) is not None:
            written["outputSchema"] = output
        if self.annotations is not None:
            written["annotations"] = self.annotations.to_dict()
        if self.meta is not None:
            written["_meta"] = self.meta
        return written

    def _output(self) -> dict[str, Any] | None:
        definitions = Definitions(output=True)
        closed = definitions.closed(kind_of(self.observation_type, definitions).schema)
        return closed if closed.get("properties") else None


def _members_of(result: Any, wanted: type[Any]) -> Any:
    dump = getattr(type(result), "model_dump", None)
    if callable(dump):
        members = dump(result, mode="json", by_alias=True)
        if hasattr(result, "_to_observation"):
            # What an observation says is no part of its structured result.
            members |= {"content": result.content, "is_error": result.is_error}
        return members
    if isinstance(result, Mapping):
        return dict(result)
    raise TypeError(
        f"the executor gave a {type(result).__qualname__}, which is no {wanted.__qualname__}"
    )
