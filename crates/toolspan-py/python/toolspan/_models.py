"""How are models of pydantic described and made, and what is annotated with its fields?

By pydantic itself, which is asked only where a program has imported it.
"""

from __future__ import annotations

import json
import sys
import typing
from typing import Any

from ._kind import Definitions, Kind, Unusable


def is_of_pydantic(hint: Any) -> bool:
    """Whether pydantic knows a type, or a part of it, better."""
    if "pydantic" not in sys.modules:
        return False
    if isinstance(hint, type) and (
        "__pydantic_core_schema__" in vars(hint) or hasattr(hint, "__get_pydantic_core_schema__")
    ):
        return True
    words = typing.get_args(hint)
    if typing.get_origin(hint) is typing.Annotated:
        return is_of_pydantic(words[0]) or any(
            type(word).__module__.startswith("pydantic")
            or hasattr(word, "__get_pydantic_core_schema__")
            for word in words[1:]
        )
    return typing.get_origin(hint) is not typing.Literal and any(map(is_of_pydantic, words))


def by_pydantic(hint: Any, definitions: Definitions) -> Kind:
    """A type as pydantic describes it.

    Raises ``Unusable`` for one that it cannot describe.
    """
    pydantic: Any = sys.modules["pydantic"]
    try:
        adapter: Any = pydantic.TypeAdapter(hint)
        schema = adapter.json_schema(
            mode="serialization" if definitions.output else "validation",
            ref_template="#/$defs/{model}",
        )
    except pydantic.PydanticUserError as error:
        raise Unusable(f"pydantic cannot describe it: {error.message}") from error
    inner = schema.pop("$defs", {})
    if all(definitions.named.get(name, known) == known for name, known in inner.items()):
        # A model that stands at several places is described once.
        definitions.named.update(inner)
    else:
        new = {name: definitions.free(name) for name in inner}
        for name, other in new.items():
            definitions.named[other] = _renamed(inner[name], new)
        schema = _renamed(schema, new)

    def accepts(value: Any) -> bool:
        try:
            adapter.validate_json(json.dumps(value))
        except ValueError:
            return False
        return True

    is_object = schema.get("type") == "object" or "$ref" in schema
    return Kind(
        schema,
        accepts,
        # As JSON, so that a strict model takes what JSON has for its types.
        lambda value: adapter.validate_json(json.dumps(value)),
        is_object and (schema.get("properties") is not None or "$ref" in schema),
    )


def _renamed(schema: Any, new: dict[str, str]) -> Any:
    if isinstance(schema, list):
        return [_renamed(item, new) for item in schema]
    if not isinstance(schema, dict):
        return schema
    renamed = {key: _renamed(value, new) for key, value in schema.items()}
    reference = renamed.get("$ref")
    if isinstance(reference, str):
        name = reference.removeprefix("#/$defs/")
        renamed["$ref"] = f"#/$defs/{new.get(name, name)}"
    return renamed
