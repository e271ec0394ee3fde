"""What does a function take, as a JSON Schema, and how are its arguments made from JSON?"""

from __future__ import annotations

import inspect
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ._docstring import Documented, read
from ._kind import Definitions, Kind, Unusable
from ._types import kind_of

#: A name in an annotation that is written as text.
WORD = re.compile(r"[^\W\d]\w*")


class LocalNames:
    """The local names of the function that makes a tool.

    To look at what they mean costs, and keeps it as long as that function runs: it is done where an
    annotation cannot be understood without them.
    """

    def __init__(self, frame: types.FrameType) -> None:
        self._frame = frame

    def values(self) -> Mapping[str, Any]:
        """What they mean."""
        return self._frame.f_locals

    def are_meant_by(self, function: Callable[..., Any]) -> bool:
        """Whether annotations of a function that is defined there are written with them."""
        code = self._frame.f_code
        path = getattr(function, "__qualname__", "").split(".")
        if path[-3:-1] != [code.co_name, "<locals>"]:
            return False
        written = getattr(function, "__annotations__", {}).values()
        words = {word for text in written if isinstance(text, str) for word in WORD.findall(text)}
        return not words.isdisjoint((*code.co_varnames, *code.co_cellvars))


@dataclass(frozen=True)
class Described:
    """A function as a tool."""

    name: str
    description: str
    #: The JSON Schema of its arguments, an object.
    schema: dict[str, Any]
    #: The JSON Schema of what it returns, where that is an object of known members.
    output: dict[str, Any] | None
    #: The name of the parameter that is given the surroundings of the call.
    context: str | None
    is_context_positional: bool
    is_async: bool
    #: Those whose arguments are something else than the JSON they are made from.
    builders: dict[str, Callable[[Any], Any]]
    #: The parameters that cannot be given by keyword, in order.
    positional: tuple[str, ...]
    #: The parameters whose default is written as a field of pydantic, which the function must not
    #: see.
    fields: dict[str, Any]

    def arguments(self, given: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
        """What to call the function with, from arguments that match the schema.

        Raises ``ValueError`` where a value is none of its type, for all that the schema says.
        """
        built = dict(given)
        defaults = {
            name: default_of(field) for name, field in self.fields.items() if name not in built
        }
        for name, build in self.builders.items():
            if name in built:
                try:
                    built[name] = build(built[name])
                except Exception as error:
                    raise ValueError(f"{name}: {words_of(error)}") from error
        built.update(defaults)
        positional = []
        for name in self.positional:
            if name not in built:
                break
            positional.append(built.pop(name))
        return positional, built


def words_of(error: BaseException) -> str:
    """What an exception says, in one line for each fault that a model of pydantic finds."""
    errors = getattr(error, "errors", None)
    if callable(errors) and type(error).__module__.startswith("pydantic"):
        faults = errors(include_url=False, include_context=False)
        told = (
            ": ".join(filter(None, (".".join(map(str, fault["loc"])), fault["msg"])))
            for fault in faults
        )
        return "; ".join(told)
    return str(error)


def describe(
    function: Callable[..., Any],
    *,
    name: str | None = None,
    description: str | None = None,
    names: LocalNames | None = None,
) -> Described:
    """A function as a tool. ``names`` gives the local names where it is defined.

    Raises ``TypeError`` for what cannot be a tool, and says which parameter is at fault.
    """
    called = name if name is not None else own_name(function)
    if not called.strip():
        raise TypeError("the name of a tool must not be blank")
    code = code_of(function)
    if inspect.isgeneratorfunction(code) or inspect.isasyncgenfunction(code):
        raise TypeError(f"{called}() yields its result in parts: return it whole, such as a list")
    said = read(inspect.getdoc(function) or "")
    hints = hints_of(function, code, names)
    taken = _Taken(called, hints, said)
    parameters = inspect.signature(function).parameters
    if (owner := owner_of(function)) and {"self", "cls"} & (set(list(parameters)[:1]) - set(hints)):
        raise TypeError(
            f"{called}() is a method without its object: give the tool that of one, such as "
            f"host.tool({owner}().{called})"
        )
    for number, parameter in enumerate(parameters.values()):
        taken.take(number, parameter)
    return Described(
        name=called,
        description=description if description is not None else said.description,
        schema=taken.schema(),
        output=output_of(hints.get("return")),
        context=taken.context,
        is_context_positional=taken.is_context_positional,
        is_async=inspect.iscoroutinefunction(code),
        builders=taken.builders,
        positional=tuple(taken.positional),
        fields=taken.fields,
    )


def own_name(function: Callable[..., Any]) -> str:
    """The name of a function, or of the function within a ``functools.partial``."""
    found = getattr(function, "__name__", None) or getattr(
        getattr(function, "func", None), "__name__", None
    )
    if found is None:
        found = type(function).__name__
    if found == "<lambda>":
        raise TypeError("a lambda has no name: give the tool one with name=...")
    return str(found)


def code_of(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function that does the work: of an object its ``__call__``."""
    if not callable(function) or isinstance(function, type):
        raise TypeError(f"a tool is made of a function, not of {function!r}")
    inner: Any = function
    while hasattr(inner, "func") and hasattr(inner, "keywords"):
        inner = inner.func
    is_object = not inspect.isroutine(inner)
    found: Callable[..., Any] = type(inner).__call__ if is_object else inner
    return found


def owner_of(function: Callable[..., Any]) -> str | None:
    """The class in whose body a function stands, where it is bound to none of its objects."""
    path = getattr(function, "__qualname__", "").split(".")
    is_bound = getattr(function, "__self__", None) is not None
    return None if is_bound or len(path) < 2 or path[-2] == "<locals>" else path[-2]


def hints_of(
    function: Callable[..., Any],
    code: Callable[..., Any],
    names: LocalNames | None,
) -> dict[str, Any]:
    """The annotations of a function, resolved."""
    inner = inspect.unwrap(code)
    inner = getattr(inner, "__func__", inner)
    closure = getattr(inner, "__closure__", None) or ()
    free = getattr(getattr(inner, "__code__", None), "co_freevars", ())
    local = {}
    for cell_name, cell in zip(free, closure, strict=False):
        try:
            local[cell_name] = cell.cell_contents
        except ValueError:
            continue
    try:
        if names is None or not names.are_meant_by(inner):
            return typing.get_type_hints(inner, localns=local, include_extras=True)
    except NameError:
        pass
    if names is not None:
        local = {**names.values(), **local}
    try:
        return typing.get_type_hints(inner, localns=local, include_extras=True)
    except NameError as error:
        raise TypeError(
            f"an annotation of {own_name(function)}() names {error.name!r}, which cannot be found; "
            "define it before the tool, and not under TYPE_CHECKING alone"
        ) from error


def output_of(hint: Any) -> dict[str, Any] | None:
    """The schema of what a function returns, where it promises an object."""
    if hint is None:
        return None
    definitions = Definitions(output=True)
    try:
        kind = kind_of(hint, definitions)
    except Unusable:
        return None
    schema = definitions.closed(kind.schema)
    return schema if kind.is_object else None


class _Taken:
    """The parameters of a function, one after the other."""

    def __init__(self, tool: str, hints: dict[str, Any], said: Documented) -> None:
        self.tool = tool
        self.hints = hints
        self.said = said
        self.context: str | None = None
        self.is_context_positional = False
        self.builders: dict[str, Callable[[Any], Any]] = {}
        self.positional: list[str] = []
        self.fields: dict[str, Any] = {}
        self._definitions = Definitions()
        self._properties: dict[str, Any] = {}
        self._required: list[str] = []

    def take(self, number: int, parameter: inspect.Parameter) -> None:
        name = parameter.name
        if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
            star = "*" if parameter.kind is parameter.VAR_POSITIONAL else "**"
            raise TypeError(
                f"the tool {self.tool!r} has the parameter {star}{name}, for which a model knows "
                "no names: write its parameters one by one"
            )
        if is_context(self.hints.get(name)):
            if number:
                raise TypeError(
                    f"the tool {self.tool!r} takes the context of its call as {name!r}, which must "
                    "be its first parameter"
                )
            self.context = name
            self.is_context_positional = parameter.kind is parameter.POSITIONAL_ONLY
            return
        if parameter.kind is parameter.POSITIONAL_ONLY:
            self.positional.append(name)
        self._add(name, parameter.default)

    def _add(self, name: str, default: Any) -> None:
        empty = inspect.Parameter.empty
        hint = self.hints.get(name, Any)
        if is_field(default):
            # pydantic lets `x: int = Field(5)` stand for `x: Annotated[int, Field()] = 5`.
            hint, field = typing.Annotated[hint, default], default
            default = default_of(field)
            if default is not empty:
                self.fields[name] = field
        try:
            kind = kind_of(hint, self._definitions)
        except Unusable as error:
            raise TypeError(f"the parameter {name!r} of the tool {self.tool!r}: {error}") from None
        if default is None and not kind.accepts(None):
            kind = nullable(kind)
        schema = dict(kind.schema)
        if name in self.said.parameters and "description" not in schema:
            schema["description"] = self.said.parameters[name]
        if default is empty:
            self._required.append(name)
        else:
            written = kind.written(default)
            if written is not None or default is None:
                schema["default"] = written
        self._properties[name] = schema
        if kind.build is not None:
            self.builders[name] = kind.build

    def schema(self) -> dict[str, Any]:
        whole: dict[str, Any] = {"type": "object", "properties": self._properties}
        if self._required:
            whole["required"] = self._required
        whole["additionalProperties"] = False
        return self._definitions.closed(whole)


def nullable(kind: Kind) -> Kind:
    """The type of a parameter that is ``None`` by default, whatever its annotation says."""
    build = kind.build
    return Kind(
        schema={"anyOf": [kind.schema, {"type": "null"}]},
        accepts=lambda value: value is None or kind.accepts(value),
        build=None if build is None else lambda value: None if value is None else build(value),
    )


def is_context(hint: Any) -> bool:
    """Whether an annotation is the class of the call's context, or it or ``None``."""
    from ._toolspan import CallContext

    return hint is CallContext or CallContext in typing.get_args(hint)


def is_field(default: Any) -> bool:
    """Whether a default is what pydantic's ``Field()`` gives."""
    pydantic = sys.modules.get("pydantic.fields")
    return pydantic is not None and isinstance(default, pydantic.FieldInfo)


def default_of(field: Any) -> Any:
    """The default that ``Field()`` was given."""
    if field.is_required():
        return inspect.Parameter.empty
    return field.get_default(call_default_factory=True)
