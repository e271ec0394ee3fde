"""The compiled half of the package: what is written in Rust."""

from asyncio import Future
from collections.abc import Callable, Mapping
from os import PathLike
from types import TracebackType
from typing import Any, Final, Literal, TypedDict, final, type_check_only

__all__ = [
    "AudioContent",
    "Content",
    "EmbeddedResource",
    "Host",
    "ImageContent",
    "LogMessage",
    "Observation",
    "OtherContent",
    "Progress",
    "ResourceLink",
    "TextContent",
    "Tool",
    "__version__",
    "aconnect",
    "connect",
]

__version__: str

@type_check_only
class BrokenTool(TypedDict):
    name: str
    reason: str

@type_check_only
class ToolboxStatus(TypedDict):
    toolbox: str
    kind: str
    state: Literal["disabled", "connecting", "ready", "degraded", "failed", "closed"]
    tools: int
    broken: list[BrokenTool]
    error: dict[str, Any] | None

@final
class TextContent:
    """A block of text."""

    type: Final[Literal["text"]] = "text"
    __match_args__ = ("text",)
    @property
    def text(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class ImageContent:
    """An image."""

    type: Final[Literal["image"]] = "image"
    __match_args__ = ("data", "mime_type")
    @property
    def data(self) -> str: ...
    @property
    def mime_type(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class AudioContent:
    """Sound."""

    type: Final[Literal["audio"]] = "audio"
    __match_args__ = ("data", "mime_type")
    @property
    def data(self) -> str: ...
    @property
    def mime_type(self) -> str: ...
    def to_bytes(self) -> bytes: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class EmbeddedResource:
    """A resource with its contents: either text or bytes."""

    type: Final[Literal["resource"]] = "resource"
    __match_args__ = ("uri",)
    @property
    def uri(self) -> str: ...
    @property
    def mime_type(self) -> str | None: ...
    @property
    def text(self) -> str | None: ...
    @property
    def blob(self) -> str | None: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class ResourceLink:
    """A resource by its address. It is never fetched unasked."""

    type: Final[Literal["resource_link"]] = "resource_link"
    __match_args__ = ("uri", "name")
    @property
    def uri(self) -> str: ...
    @property
    def name(self) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class OtherContent:
    """A block of a kind that this version does not know, as it came."""

    @property
    def type(self) -> str: ...
    def to_dict(self) -> Any: ...

Content = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink | OtherContent

@final
class Observation:
    """What a tool answered."""

    @property
    def text(self) -> str: ...
    @property
    def content(self) -> list[Content]: ...
    @property
    def is_error(self) -> bool: ...
    @property
    def structured(self) -> Any: ...
    @property
    def raw(self) -> list[Any]: ...
    @property
    def extra(self) -> dict[str, Any]: ...
    @property
    def schema_violation(self) -> str | None: ...
    def to_llm_content(self, max_chars: int | None = None) -> list[TextContent | ImageContent]: ...
    def to_llm_text(self, max_chars: int | None = None) -> str: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class Tool:
    """A tool as a host knows it."""

    @property
    def name(self) -> str: ...
    @property
    def toolbox(self) -> str: ...
    @property
    def original_name(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def description(self) -> str: ...
    @property
    def input_schema(self) -> dict[str, Any]: ...
    @property
    def output_schema(self) -> dict[str, Any] | None: ...
    @property
    def annotations(self) -> dict[str, Any]: ...
    @property
    def signature(self) -> str: ...
    def validate(self, args: Mapping[str, Any] | None = None, /, **arguments: Any) -> None: ...
    def to_dict(self) -> dict[str, Any]: ...

@final
class Progress:
    """How far a call has come, as its tool says."""

    @property
    def progress(self) -> float: ...
    @property
    def total(self) -> float | None: ...
    @property
    def message(self) -> str | None: ...

@final
class LogMessage:
    """A log message of a server."""

    @property
    def toolbox(self) -> str: ...
    @property
    def level(self) -> str: ...
    @property
    def text(self) -> str: ...

@final
class Host:
    """All toolboxes of an agent behind one door."""

    @property
    def tools(self) -> list[Tool]: ...
    @property
    def tools_changed(self) -> bool: ...
    @property
    def warnings(self) -> list[str]: ...
    @property
    def closed(self) -> bool: ...
    def status(self) -> list[ToolboxStatus]: ...
    def call(
        self, name: str, args: Mapping[str, Any] | None = None, /, **arguments: Any
    ) -> Observation: ...
    def acall(
        self, name: str, args: Mapping[str, Any] | None = None, /, **arguments: Any
    ) -> Future[Observation]: ...
    def run(self, model_call: Any, /) -> Observation: ...
    def arun(self, model_call: Any, /) -> Future[Observation]: ...
    def find(self, name: str, /) -> Tool: ...
    def afind(self, name: str, /) -> Future[Tool]: ...
    def refresh(self) -> None: ...
    def arefresh(self) -> Future[None]: ...
    def with_options(
        self,
        *,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
        meta: Mapping[str, Any] | None = None,
        on_progress: Callable[[Progress], object] | None = None,
    ) -> Host: ...
    def _quiet(self) -> Host: ...
    def to_openai(self) -> list[dict[str, Any]]: ...
    def close(self) -> None: ...
    def aclose(self) -> Future[None]: ...
    def __enter__(self) -> Host: ...
    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None: ...
    def __aenter__(self) -> Future[Host]: ...
    def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> Future[None]: ...

def connect(
    config: str | PathLike[str] | Mapping[str, Any] | None,
    on_log: Callable[[LogMessage], object] | None,
    quiet: bool = False,
) -> Host: ...
def aconnect(
    config: str | PathLike[str] | Mapping[str, Any] | None,
    on_log: Callable[[LogMessage], object] | None,
) -> Future[Host]: ...
