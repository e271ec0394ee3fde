"""What goes into a tool, and what comes out, as models of pydantic?"""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field
from typing_extensions import Self

from .. import _result, _toolspan

#: What a failure begins with, for a model.
ERROR_HEADER = "[The tool reported an error]"


class _Schema(BaseModel):
    """An action or an observation: no unknown fields, and never changed."""

    model_config = ConfigDict(extra="forbid", frozen=True, arbitrary_types_allowed=True)

    @property
    def visualize(self) -> Any:
        """What a person is shown: text, or a ``Text`` of rich. A subclass says it better."""
        fields = self.model_dump(mode="json")
        return ", ".join(f"{name}={value!r}" for name, value in fields.items())


class Action(_Schema):
    """What goes into a tool: a subclass names its fields."""


class Observation(_Schema):
    """What comes out of a tool. A subclass may have fields, which are the structured result."""

    #: The blocks: texts, images as bytes, and blocks of toolspan.
    content: list[Any] = Field(default_factory=list, exclude=True)
    is_error: bool = Field(default=False, exclude=True)

    @classmethod
    def from_text(cls, text: str, is_error: bool = False, **fields: Any) -> Self:
        """An observation of one text."""
        return cls(content=[text], is_error=is_error, **fields)

    @property
    def text(self) -> str:
        """All texts of the content together."""
        return "".join(block for block in map(_text_of, self.content) if block is not None)

    @property
    def to_llm_content(self) -> list[Any]:
        """What a model is given. A subclass says it better."""
        return [ERROR_HEADER, *self.content] if self.is_error else list(self.content)

    @property
    def visualize(self) -> Any:
        """What a person is shown: text, or a ``Text`` of rich. A subclass says it better."""
        return self.text or super().visualize

    def _to_observation(self) -> _toolspan.Observation:
        """The observation of the host."""
        fields = self.model_dump(mode="json", by_alias=True)
        own = type(self)
        blocks = [_block_of(block) for block in self.content]
        for_model = visual = None
        if own.to_llm_content is not Observation.to_llm_content:
            for_model = [_block_of(block) for block in self.to_llm_content]
        if own.visualize is not Observation.visualize:
            visual = shown(self.visualize)
        structured = fields or None
        has_blocks = bool(blocks) or structured is None
        return _toolspan._observation(
            blocks if has_blocks else None, structured, self.is_error, for_model, visual
        )


def _text_of(block: Any) -> str | None:
    if isinstance(block, str):
        return block
    return block.text if isinstance(block, _toolspan.TextContent) else None


def _block_of(block: Any) -> dict[str, Any]:
    made = block if isinstance(block, dict) else _result.as_block(block)
    return _result.text(block) if made is None else made


def shown(visual: Any) -> str:
    """The text of what is shown to people, without the styles of rich."""
    plain = getattr(visual, "plain", visual)
    return plain if isinstance(plain, str) else str(plain)
