"""What does a tool's function give back, and what is it in JSON?"""

from __future__ import annotations

import base64
import dataclasses
import datetime
import decimal
import enum
import os
import uuid
from collections.abc import Mapping
from typing import Any

from . import _toolspan

#: How images begin.
IMAGES = {
    b"\x89PNG\r\n\x1a\n": "image/png",
    b"\xff\xd8\xff": "image/jpeg",
    b"GIF87a": "image/gif",
    b"GIF89a": "image/gif",
}
#: How an object shows itself as an image, in a notebook as here.
SHOWN = {"_repr_png_": "image/png", "_repr_jpeg_": "image/jpeg"}

#: The classes of blocks.
BLOCKS = (
    _toolspan.TextContent,
    _toolspan.ImageContent,
    _toolspan.AudioContent,
    _toolspan.EmbeddedResource,
    _toolspan.ResourceLink,
    _toolspan.OtherContent,
)


def observation(value: Any) -> _toolspan.Observation:
    """The observation of what a function gave back.

    Raises ``TypeError`` for what is neither text, image nor JSON.
    """
    if isinstance(value, _toolspan.Observation):
        return value
    if value is None:
        return _toolspan._observation([], None, False)
    if isinstance(value, str) and not isinstance(value, enum.Enum):
        return _toolspan._observation([text(value)], None, False)
    if (own := getattr(value, "_to_observation", None)) is not None:
        made: _toolspan.Observation = own()
        return made
    if (block := as_block(value)) is not None:
        return _toolspan._observation([block], None, False)
    if isinstance(value, (list, tuple)) and value and any(as_block(one) for one in value):
        return _toolspan._observation([as_block(one) or text(one) for one in value], None, False)
    return _toolspan._observation(None, plain(value), False)


def failure(error: BaseException) -> _toolspan.Observation:
    """The observation of an exception: its type and what it says."""
    return _toolspan._observation([text(told(error))], None, True)


def told(error: BaseException) -> str:
    """The type of an exception and what it says, where it can say it."""
    name = type(error).__name__
    try:
        said = str(error)
    except Exception:
        return name
    return f"{name}: {said}" if said else name


def text(words: Any) -> dict[str, Any]:
    """A block of text as MCP writes it."""
    if not isinstance(words, str):
        raise TypeError(f"{kind_of(words)} among the blocks that a tool returned is none")
    # Where a text was decoded wrongly, a mark stands for what is none.
    return {"type": "text", "text": words.encode("utf-8", "replace").decode("utf-8")}


def as_block(value: Any) -> dict[str, Any] | None:
    """The block that a value is by itself, as MCP writes it: an image, sound, a resource."""
    if isinstance(value, BLOCKS):
        written: dict[str, Any] = value.to_dict()
        return written
    if isinstance(value, (bytes, bytearray)):
        return _of_bytes(bytes(value))
    if isinstance(value, type):
        return None
    for method, kind in SHOWN.items():
        show = getattr(type(value), method, None)
        data = show(value) if callable(show) else None
        if isinstance(data, bytes):
            return _image(data, kind)
    return None


def _of_bytes(data: bytes) -> dict[str, Any]:
    for begin, kind in IMAGES.items():
        if data.startswith(begin):
            return _image(data, kind)
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return _image(data, "image/webp")
    blob = base64.b64encode(data).decode()
    resource = {"uri": "result:bytes", "mimeType": "application/octet-stream", "blob": blob}
    return {"type": "resource", "resource": resource}


def _image(data: bytes, kind: str) -> dict[str, Any]:
    return {"type": "image", "data": base64.b64encode(data).decode(), "mimeType": kind}


def plain(value: Any) -> Any:
    """A value as what JSON holds. Deeper than JSON may be nested it raises ``RecursionError``.

    Raises ``TypeError`` for what is no JSON.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value.value if isinstance(value, enum.Enum) else value
    if isinstance(value, enum.Enum):
        try:
            return plain(value.value)
        except TypeError:
            return value.name
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {
            field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    dump = getattr(type(value), "model_dump", None)
    if callable(dump):
        # Under the names that its schema has.
        return dump(value, mode="json", by_alias=True)
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        return {name: plain(item) for name, item in value._asdict().items()}
    if isinstance(value, Mapping):
        return {_key(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted((plain(item) for item in value), key=repr)
    return _as_text(value)


def _as_text(value: Any) -> str:
    if isinstance(value, (datetime.date, datetime.time)):
        return value.isoformat()
    if isinstance(value, (uuid.UUID, decimal.Decimal)):
        return str(value)
    if isinstance(value, os.PathLike):
        return str(os.fspath(value))
    if isinstance(value, (bytes, bytearray)):
        return base64.b64encode(value).decode()
    raise TypeError(
        f"{kind_of(value)} is neither text nor JSON; return text, a dict, a dataclass or a model"
    )


def _key(key: Any) -> str:
    if isinstance(key, enum.Enum):
        key = key.value
    if not isinstance(key, (str, int, float, bool)):
        raise TypeError(
            f"{kind_of(key)} is a key of what the tool returned, and JSON has text there"
        )
    return key if isinstance(key, str) else str(key)


def kind_of(value: Any) -> str:
    """What a value is, in words."""
    return f"a value of the class {type(value).__qualname__}"
