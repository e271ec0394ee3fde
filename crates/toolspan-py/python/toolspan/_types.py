"""Which JSON Schema does a type of Python have, and how is its value made from JSON?"""

from __future__ import annotations

import base64
import collections.abc
import dataclasses
import datetime
import decimal
import enum
import functools
import inspect
import operator
import pathlib
import types
import typing
import uuid
from collections.abc import Callable
from typing import Any

from ._docstring import Documented, read
from ._kind import Definitions, Kind, Unusable
from ._models import by_pydantic, is_of_pydantic

#: Where there is no default; ``dataclasses.MISSING`` cannot be one of a dataclass.
NONE = object()
#: How deep types may stand in one another.
DEEPEST = 64

#: What an annotation of ``annotated_types``, or one that looks the same, is in JSON Schema.
BOUNDS = {
    "ge": "minimum",
    "gt": "exclusiveMinimum",
    "le": "maximum",
    "lt": "exclusiveMaximum",
    "multiple_of": "multipleOf",
    "pattern": "pattern",
}
#: The same for bounds of a size: the ends of the words for texts, lists and objects.
SIZES = {"string": "Length", "array": "Items", "object": "Properties"}


def _is(*kinds: type) -> Callable[[Any], bool]:
    """Whether a value is of these; a bool is no number."""

    def accepts(value: Any) -> bool:
        return isinstance(value, kinds) and (bool in kinds or not isinstance(value, bool))

    return accepts


def _text(build: Callable[[str], Any], **schema: Any) -> Kind:
    def accepts(value: Any) -> bool:
        if not isinstance(value, str):
            return False
        try:
            build(value)
        except (ValueError, ArithmeticError):
            return False
        return True

    return Kind({"type": "string", **schema}, accepts, build)


def _moment(kind: Any) -> Callable[[str], Any]:
    # Python reads the Z for UTC from 3.11 on.
    def read(text: str) -> Any:
        return kind.fromisoformat(text[:-1] + "+00:00" if text.endswith(("Z", "z")) else text)

    return read


def _decimal(value: Any) -> decimal.Decimal:
    try:
        return decimal.Decimal(str(value))
    except decimal.InvalidOperation:
        raise ValueError("this is no decimal number") from None


#: Types that hold no other one.
PLAIN: dict[Any, Kind] = {
    Any: Kind({}),
    object: Kind({}),
    str: Kind({"type": "string"}, _is(str)),
    bool: Kind({"type": "boolean"}, _is(bool)),
    int: Kind({"type": "integer"}, _is(int)),
    float: Kind({"type": "number"}, _is(int, float), float),
    type(None): Kind({"type": "null"}, lambda value: value is None),
    bytes: _text(functools.partial(base64.b64decode, validate=True), contentEncoding="base64"),
    list: Kind({"type": "array"}, _is(list)),
    tuple: Kind({"type": "array"}, _is(list), tuple),
    set: Kind({"type": "array", "uniqueItems": True}, _is(list), set),
    frozenset: Kind({"type": "array", "uniqueItems": True}, _is(list), frozenset),
    dict: Kind({"type": "object"}, _is(dict)),
    datetime.datetime: _text(_moment(datetime.datetime), format="date-time"),
    datetime.date: _text(datetime.date.fromisoformat, format="date"),
    datetime.time: _text(_moment(datetime.time), format="time"),
    uuid.UUID: _text(uuid.UUID, format="uuid"),
    pathlib.Path: Kind({"type": "string"}, _is(str), pathlib.Path),
    pathlib.PurePath: Kind({"type": "string"}, _is(str), pathlib.PurePath),
    decimal.Decimal: Kind({"type": ["number", "string"]}, _is(int, float, str), _decimal),
}

#: What is made of a list of items.
SEQUENCES: dict[Any, Callable[[Any], Any] | None] = {
    list: None,
    collections.abc.Sequence: None,
    collections.abc.MutableSequence: None,
    collections.abc.Iterable: None,
    collections.abc.Collection: None,
    set: set,
    collections.abc.Set: set,
    collections.abc.MutableSet: set,
    frozenset: frozenset,
}
MAPPINGS = {dict, collections.abc.Mapping, collections.abc.MutableMapping}


def kind_of(hint: Any, definitions: Definitions) -> Kind:
    """A type as it is in JSON.

    Raises ``Unusable`` for one that is none.
    """
    definitions.depth += 1
    try:
        if definitions.depth > DEEPEST:
            raise Unusable("its type is nested too deeply")
        return _kind_of(hint, definitions)
    finally:
        definitions.depth -= 1


def _kind_of(hint: Any, definitions: Definitions) -> Kind:
    origin, words = typing.get_origin(hint), typing.get_args(hint)
    if is_of_pydantic(hint):
        return by_pydantic(hint, definitions)
    if origin is typing.Annotated:
        return _annotated(kind_of(words[0], definitions), words[1:])
    if origin in (typing.Union, types.UnionType):
        return _union([kind_of(word, definitions) for word in words])
    if origin is typing.Literal:
        return _literal(words)
    if getattr(origin, "_name", None) in ("Required", "NotRequired"):
        return kind_of(words[0], definitions)
    if (inner := _stands_for(hint)) is not None:
        return kind_of(inner, definitions)
    bare = hint if origin is None else origin
    if isinstance(bare, collections.abc.Hashable) and not words and bare in PLAIN:
        return PLAIN[bare]
    if bare is tuple:
        return _tuple(words, definitions)
    if bare in SEQUENCES:
        return _sequence(SEQUENCES[bare], words, definitions)
    if bare in MAPPINGS:
        return _mapping(words, definitions)
    if isinstance(bare, type):
        if issubclass(bare, enum.Enum):
            return _enumeration(bare)
        if dataclasses.is_dataclass(bare) or typing.is_typeddict(bare) or _is_named(bare):
            return _record(bare, definitions)
    shown = getattr(hint, "__qualname__", None) or repr(hint)
    raise Unusable(
        f"{shown} has no JSON form; use the types of JSON, a dataclass, a TypedDict, an enum or a "
        "model of pydantic"
    )


def _stands_for(hint: Any) -> Any:
    """What a name for a type stands for, where a hint is one."""
    if isinstance(hint, typing.TypeVar):
        union = functools.reduce(operator.or_, hint.__constraints__ or (Any,))
        return hint.__bound__ or union
    if isinstance(hint, typing.NewType):
        return hint.__supertype__
    if type(hint).__name__ == "TypeAliasType":
        return hint.__value__
    return None


def _annotated(kind: Kind, words: tuple[Any, ...]) -> Kind:
    schema = dict(kind.schema)
    for word in words:
        if isinstance(word, str):
            schema["description"] = word
            continue
        if documentation := getattr(word, "documentation", None):
            # typing_extensions.Doc
            schema["description"] = documentation
        for name, keyword in BOUNDS.items():
            bound = getattr(word, name, None)
            if bound is not None and not callable(bound):
                schema[keyword] = bound
        size = SIZES.get(str(schema.get("type")))
        for end in ("min", "max"):
            bound = getattr(word, f"{end}_length", None)
            if size is not None and isinstance(bound, int) and (end, bound) != ("min", 0):
                schema[f"{end}{size}"] = bound
    return dataclasses.replace(kind, schema=schema)


def _union(kinds: list[Kind]) -> Kind:
    schemas: list[dict[str, Any]] = []
    for kind in kinds:
        if kind.schema not in schemas:
            schemas.append(kind.schema)
    schema = schemas[0] if len(schemas) == 1 else {"anyOf": schemas}

    def build(value: Any) -> Any:
        # What is as it stands comes first: a text is not made a date where a text is taken, too.
        ranked = sorted(kinds, key=lambda kind: kind.build is not None)
        exact = next((kind for kind in ranked if kind.accepts(value)), ranked[-1])
        return exact.make(value)

    is_built = any(kind.build is not None for kind in kinds)
    return Kind(
        schema,
        lambda value: any(kind.accepts(value) for kind in kinds),
        build if is_built else None,
    )


def _literal(words: tuple[Any, ...]) -> Kind:
    values = [word.value if isinstance(word, enum.Enum) else word for word in words]
    if not all(value is None or isinstance(value, (str, int)) for value in values):
        raise Unusable(f"{typing.Literal[words]!r} holds what is no JSON")
    members = [word for word in words if isinstance(word, enum.Enum)]

    def build(value: Any) -> Any:
        return next((member for member in members if member.value == value), value)

    def accepts(value: Any) -> bool:
        return any(value == known and type(value) is type(known) for known in values)

    return Kind(_one_of(values), accepts, build if members else None)


def _one_of(values: list[Any]) -> dict[str, Any]:
    names = {str: "string", bool: "boolean", int: "integer", float: "number"}
    found = {names.get(type(value)) for value in values}
    only = found.pop() if len(found) == 1 else None
    typed = {} if only is None else {"type": only}
    return {**typed, "const": values[0]} if len(values) == 1 else {**typed, "enum": values}


def _enumeration(kind: type[enum.Enum]) -> Kind:
    values = [member.value for member in kind]
    if all(isinstance(value, (str, int, float)) for value in values) and values:
        schema, make = _one_of(values), kind
    else:
        # Its values are none of JSON, and its names always are.
        values = [member.name for member in kind]
        schema, make = _one_of(values), kind.__getitem__  # type: ignore[assignment]
    return Kind(schema, lambda value: value in values, make)


def _tuple(words: tuple[Any, ...], definitions: Definitions) -> Kind:
    if len(words) == 2 and words[1] is Ellipsis:
        return _sequence(tuple, words[:1], definitions)
    kinds = [kind_of(word, definitions) for word in words if word != ()]
    schema = {
        "type": "array",
        "prefixItems": [kind.schema for kind in kinds],
        "items": False,
        "minItems": len(kinds),
        "maxItems": len(kinds),
    }

    def accepts(value: Any) -> bool:
        return (
            isinstance(value, list)
            and len(value) == len(kinds)
            and all(kind.accepts(item) for kind, item in zip(kinds, value, strict=False))
        )

    def build(value: Any) -> Any:
        return tuple(kind.make(item) for kind, item in zip(kinds, value, strict=False))

    return Kind(schema, accepts, build)


def _sequence(
    make: Callable[[Any], Any] | None, words: tuple[Any, ...], definitions: Definitions
) -> Kind:
    item = kind_of(words[0], definitions) if words else Kind({})
    schema: dict[str, Any] = {"type": "array", "items": item.schema}
    if make in (set, frozenset):
        schema["uniqueItems"] = True

    def accepts(value: Any) -> bool:
        return isinstance(value, list) and all(map(item.accepts, value))

    def build(value: Any) -> Any:
        return (make or list)(item.make(one) for one in value)

    return Kind(schema, accepts, None if make is None and item.build is None else build)


def _mapping(words: tuple[Any, ...], definitions: Definitions) -> Kind:
    key = words[0] if words else str
    if typing.get_origin(key) is not typing.Literal and key not in (str, Any):
        raise Unusable("the keys of an object in JSON are texts: write dict[str, ...]")
    item = kind_of(words[1], definitions) if words else Kind({})
    schema: dict[str, Any] = {"type": "object", "additionalProperties": item.schema or True}
    if typing.get_origin(key) is typing.Literal:
        schema["propertyNames"] = _literal(typing.get_args(key)).schema

    def accepts(value: Any) -> bool:
        return isinstance(value, dict) and all(map(item.accepts, value.values()))

    def build(value: Any) -> Any:
        return {name: item.make(one) for name, one in value.items()}

    return Kind(schema, accepts, None if item.build is None else build)


def _is_named(kind: type) -> bool:
    return issubclass(kind, tuple) and hasattr(kind, "_fields")


@dataclasses.dataclass
class _Member:
    """A member of a dataclass, a TypedDict or a NamedTuple."""

    name: str
    hint: Any
    is_required: bool
    default: Any = NONE


def _members(kind: Any, output: bool) -> list[_Member]:
    try:
        hints = typing.get_type_hints(kind, include_extras=True)
    except NameError as error:
        raise Unusable(
            f"{kind.__qualname__} names {error.name!r}, which cannot be found"
        ) from error
    if typing.is_typeddict(kind):
        required = kind.__required_keys__
        return [_Member(name, hint, name in required) for name, hint in hints.items()]
    if dataclasses.is_dataclass(kind):
        fields = dataclasses.fields(kind) if output else _taken_by(kind)
        missing = dataclasses.MISSING
        return [
            _Member(
                field.name,
                getattr(hints[field.name], "type", hints[field.name]),
                field.default is missing and field.default_factory is missing,
                NONE if field.default is missing else field.default,
            )
            for field in fields
        ]
    defaults = kind._field_defaults
    return [
        _Member(name, hints.get(name, Any), name not in defaults, defaults.get(name, NONE))
        for name in kind._fields
    ]


def _taken_by(kind: Any) -> list[dataclasses.Field[Any]]:
    """The fields of a dataclass that its constructor takes, and what is for that alone."""
    fields = kind.__dataclass_fields__
    taken = list(inspect.signature(kind).parameters)
    if odd := [name for name in taken if name not in fields]:
        raise Unusable(f"{kind.__qualname__} is made with {odd[0]!r}, which is none of its fields")
    return [fields[name] for name in taken]


def _record(kind: Any, definitions: Definitions) -> Kind:
    """An object with named members; by a reference, since it may hold itself."""
    if kind in definitions.kinds:
        return definitions.kinds[kind]
    name = definitions.free(kind.__name__)
    named: dict[str, Any] = {}
    definitions.named[name] = named
    kinds: dict[str, Kind] = {}
    members = _members(kind, definitions.output)
    required = [member.name for member in members if member.is_required]

    def accepts(value: Any) -> bool:
        return (
            isinstance(value, dict)
            and all(one in value for one in required)
            and all(one in kinds and kinds[one].accepts(value[one]) for one in value)
        )

    def build(value: Any) -> Any:
        return kind(**{one: kinds[one].make(item) for one, item in value.items()})

    reference = Kind({"$ref": f"#/$defs/{name}"}, accepts, build, True)
    definitions.kinds[kind] = reference
    properties: dict[str, Any] = {}
    said = _said_of(kind)
    for member in members:
        own = kind_of(member.hint, definitions)
        kinds[member.name] = own
        properties[member.name] = dict(own.schema)
        if member.name in said.parameters and "description" not in own.schema:
            properties[member.name]["description"] = said.parameters[member.name]
        if member.default is not NONE:
            written = own.written(member.default)
            if written is not None or member.default is None:
                properties[member.name]["default"] = written
    named.update(type="object", properties=properties)
    if required:
        named["required"] = required
    if said.description:
        named["description"] = said.description
    named["additionalProperties"] = False
    return reference


def _said_of(kind: type) -> Documented:
    """What an author says of a class; a dataclass without words has its signature."""
    said = kind.__dict__.get("__doc__")
    is_made = not said or said.startswith(f"{kind.__name__}(")
    return read("" if is_made else inspect.cleandoc(str(said)))
