"""How do a tool's arguments become a pydantic model that checks them by the server's schema?"""

from __future__ import annotations

from typing import Any, ClassVar

from .._errors import ToolspanError
from .._toolspan import Tool
from ._plugin_manager import (
    ConfigDict,
    PydanticCustomError,
    ToolArguments,
    create_model,
    model_validator,
)


class ServerArguments(ToolArguments):
    """Arguments of a server's tool.

    The model has no fields of its own: what is given is kept as it is, under any name, and checked
    by the tool's JSON Schema. A name that pydantic or Python needs for itself (``model_config``,
    ``_x``, ``self``) is a name like any other; its value is in ``model_dump()``.
    """

    # Inputs stay out of error texts: they may hold secrets, and the text goes to the bus.
    model_config = ConfigDict(extra="allow", hide_input_in_errors=True)

    _definition: ClassVar[Tool]

    @model_validator(mode="before")
    @classmethod
    def _fit_the_schema(cls, values: Any) -> Any:
        """Lets through what fits the schema, unchanged."""
        if isinstance(values, dict):
            try:
                cls._definition.validate(values)
            except ToolspanError as error:
                # Braces of the text are no places to fill in when it comes as a value.
                raise PydanticCustomError(error.kind, "{reason}", {"reason": str(error)}) from error
        return values

    @classmethod
    def model_json_schema(cls, *_: Any, **__: Any) -> dict[str, Any]:
        """The schema as the server wrote it; a copy with each call."""
        return cls._definition.input_schema

    def _given(self) -> dict[str, Any]:
        """What was given, by name: a null is a null, and what was left out is not there."""
        return dict(self.__pydantic_extra__ or {})


def arguments_of(tool: Tool) -> type[ServerArguments]:
    """The class for a tool's arguments, called ``<tool>_args``."""
    name = f"{tool.original_name}_args".replace("\0", "_")
    made = create_model(name, __base__=ServerArguments, __module__=__name__)
    made.__doc__ = tool.description or None
    made._definition = tool
    return made


def given_by(arguments: ToolArguments) -> dict[str, Any]:
    """The arguments that a model holds, of whichever class it is."""
    if isinstance(arguments, ServerArguments):
        return arguments._given()
    given: dict[str, Any] = arguments.model_dump(mode="json")
    return given
