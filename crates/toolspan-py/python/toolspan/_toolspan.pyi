"""The compiled half of the package: what is written in Rust."""

from asyncio import AbstractEventLoop, Future
from collections.abc import Callable, Iterable, Mapping, Sequence
from os import PathLike
from types import TracebackType
from typing import (
    Any,
    Final,
    Literal,
    NoReturn,
    Protocol,
    TypedDict,
    TypeVar,
    final,
    overload,
    type_check_only,
)

from .tools import ToolDefinition, ToolSpec

__all__ = [
    "AudioContent",
    "CallContext",
    "Content",
    "EmbeddedResource",
    "Host",
    "ImageContent",
    "InterceptedCall",
    "LogMessage",
    "Observation",
    "OtherContent",
    "Progress",
    "Question",
    "ResourceLink",
    "TextContent",
    "Tool",
    "_Held",
    "_Job",
    "_Names",
    "_Verdict",
    "__version__",
    "_last_words",
    "_observation",
    "_tool_name",
    "aconnect",
    "connect",
]

__version__: str

_FunctionT = TypeVar("_FunctionT", bound=Callable[..., Any])

@type_check_only
class BrokenTool(TypedDict):
    """A tool that cannot be called, and why."""

    name: str
    reason: str

@type_check_only
class SupportsHints(Protocol):
    """Hints about a tool's effects, such as ToolAnnotations of toolspan.tools."""

    def to_dict(self) -> dict[str, Any]:
        """The hints as MCP writes them."""

@type_check_only
class ToolboxStatus(TypedDict):
    """How a toolbox is, as Host.status() says: error is that of one that failed."""

    toolbox: str
    kind: str
    state: Literal["disabled", "connecting", "ready", "degraded", "failed", "closed"]
    tools: int
    broken: list[BrokenTool]
    error: dict[str, Any] | None

@final
class TextContent:
    """A block of text."""

    def __new__(cls, text: str) -> TextContent: ...
    type: Final[Literal["text"]] = "text"
    __match_args__ = ("text",)
    @property
    def text(self) -> str:
        """The text as the tool wrote it; not safe for a terminal."""
    def to_dict(self) -> dict[str, Any]:
        """The block as MCP writes it, with every further member that the tool gave."""

@final
class ImageContent:
    """An image."""

    def __new__(cls, data: str | bytes, mime_type: str) -> ImageContent: ...
    type: Final[Literal["image"]] = "image"
    __match_args__ = ("data", "mime_type")
    @property
    def data(self) -> str:
        """Its bytes in base64, as the tool wrote them."""
    @property
    def mime_type(self) -> str:
        """The media type as the tool wrote it, such as "image/png"."""
    def to_bytes(self) -> bytes:
        """Its bytes. Raises ValueError where the data is no base64."""
    def to_dict(self) -> dict[str, Any]:
        """The block as MCP writes it, with every further member that the tool gave."""

@final
class AudioContent:
    """Sound."""

    def __new__(cls, data: str | bytes, mime_type: str) -> AudioContent: ...
    type: Final[Literal["audio"]] = "audio"
    __match_args__ = ("data", "mime_type")
    @property
    def data(self) -> str:
        """Its bytes in base64, as the tool wrote them."""
    @property
    def mime_type(self) -> str:
        """The media type as the tool wrote it, such as "audio/wav"."""
    def to_bytes(self) -> bytes:
        """Its bytes. Raises ValueError where the data is no base64."""
    def to_dict(self) -> dict[str, Any]:
        """The block as MCP writes it, with every further member that the tool gave."""

@final
class EmbeddedResource:
    """A resource with its contents: either text or bytes."""

    type: Final[Literal["resource"]] = "resource"
    __match_args__ = ("uri",)
    @property
    def uri(self) -> str:
        """The resource's address."""
    @property
    def mime_type(self) -> str | None:
        """Its media type; None where the tool does not say."""
    @property
    def text(self) -> str | None:
        """Its contents where they are text, else None."""
    @property
    def blob(self) -> str | None:
        """Its contents in base64 where they are bytes, else None."""
    def to_dict(self) -> dict[str, Any]:
        """The block as MCP writes it, with every further member that the tool gave."""

@final
class ResourceLink:
    """A resource by its address. It is never fetched unasked."""

    type: Final[Literal["resource_link"]] = "resource_link"
    __match_args__ = ("uri", "name")
    @property
    def uri(self) -> str:
        """The resource's address."""
    @property
    def name(self) -> str:
        """Its name; empty where the tool gave none."""
    def to_dict(self) -> dict[str, Any]:
        """The block as MCP writes it, with every further member that the tool gave."""

@final
class OtherContent:
    """A block of a kind that this version does not know, or that breaks the rules of its kind, as
    it came.
    """

    @property
    def type(self) -> str:
        """The kind as the tool wrote it; empty where it gave none."""
    def to_dict(self) -> Any:
        """The block as it came: a dict, unless the tool sent something else."""

Content = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink | OtherContent

@final
class Observation:
    """What a tool answered. Nothing of it is converted before it is asked for.

    str(observation) is its text.
    """

    @property
    def text(self) -> str:
        """All text blocks, joined with newlines; where there is none, the structured result as
        JSON.
        """
    @property
    def content(self) -> list[Content]:
        """The blocks in the order the tool gave them, each of the class of its kind."""
    @property
    def is_error(self) -> bool:
        """Whether the tool says that it failed."""
    @property
    def structured(self) -> Any:
        """The structured result as plain Python values; None where there is none."""
    @property
    def raw(self) -> list[Any]:
        """Every block as the server sent it, as plain Python values."""
    @property
    def extra(self) -> dict[str, Any]:
        """Further members of the result, such as _meta, as the server sent them."""
    @property
    def schema_violation(self) -> str | None:
        """Why the structured result does not match the tool's output schema; None where it does."""
    @property
    def repairs(self) -> list[dict[str, Any]]:
        """What was set right in the arguments that a model gave, before they were checked again:
        dicts with pointer, kind and note.
        """
    @property
    def decision(self) -> dict[str, Any] | None:
        """What was decided of the call: a dict with level, verdict, rule and risk; None where
        nothing was decided.
        """
    def to_llm_content(self, max_chars: int | None = None) -> list[TextContent | ImageContent]:
        """What a model is given: texts and images, with at most max_chars characters of text.

        None means the toolbox's limits.output_chars, 30,000 by default. Text past the bound is cut
        in the middle, with a notice of what is missing. Sound, files and links become a line that
        names them. What a tool reports as its failure begins with a line that says so. Notices
        count, but may pass a bound of less than 200.
        """
    def to_llm_text(self, max_chars: int | None = None) -> str:
        """The text, or that of what the tool chose for a model, within max_chars characters; None
        means the toolbox's limits.output_chars.

        Text past the bound is cut in the middle, with a notice of what is missing. The notice
        counts, but may pass a bound of less than twice its length.
        """
    def visualize(self, *, ansi: bool = False) -> str:
        """What a person is shown, safe for a terminal: what the tool chose, or the text. With ansi
        it has the control sequences of its styles.
        """
    def to_dict(self) -> dict[str, Any]:
        """The result as MCP writes it: content, structuredContent, isError and what else there
        was.
        """

@final
class Tool:
    """A tool as a host knows it: a description that keeps no server running."""

    @property
    def name(self) -> str:
        """The name to call it by, unique in its host."""
    @property
    def toolbox(self) -> str:
        """The toolbox it belongs to, as the config writes its key."""
    @property
    def original_name(self) -> str:
        """The server's own name for it."""
    @property
    def title(self) -> str:
        """A name for people; the original name where the server gave none."""
    @property
    def description(self) -> str:
        """What it does, in words for a model; empty where the server gave none."""
    @property
    def input_schema(self) -> dict[str, Any]:
        """The JSON Schema of its arguments, as its author wrote it."""
    @property
    def output_schema(self) -> dict[str, Any] | None:
        """The JSON Schema of its structured result, as its author wrote it; None where there is
        none.
        """
    @property
    def annotations(self) -> dict[str, Any]:
        """What the server says of its effects, such as {"readOnlyHint": True}; empty where it says
        nothing. It proves nothing.
        """
    @property
    def signature(self) -> str:
        """Its arguments in one line, such as (timezone: string, format?: "a" | "b")."""
    def validate(self, args: Mapping[str, Any] | None = None, /, **arguments: Any) -> None:
        """Checks arguments against the input schema and calls nothing.

        Raises InvalidArguments where they do not match it, as a call would, and SchemaRejected
        where the schema itself cannot be used.
        """
    def to_dict(self) -> dict[str, Any]:
        """The members that the command line prints for a tool as JSON."""

@final
class Progress:
    """How far a call has come, as its tool says."""

    @property
    def progress(self) -> float:
        """Work done so far, in the tool's own unit."""
    @property
    def total(self) -> float | None:
        """All the work, in the same unit; None where the tool does not say."""
    @property
    def message(self) -> str | None:
        """What is being done, as the tool wrote it; None where it does not say."""

@final
class LogMessage:
    """A log message of a server."""

    @property
    def toolbox(self) -> str:
        """The server's toolbox, as the config writes its key."""
    @property
    def level(self) -> str:
        """The level as the server wrote it, such as "info", "warning" or "error"."""
    @property
    def text(self) -> str:
        """The message as the server wrote it; not safe for a terminal."""

@final
class CallContext:
    """The surroundings of one call of a tool that is written in Python."""

    @property
    def tool(self) -> str:
        """The name by which the tool was called."""
    @property
    def meta(self) -> dict[str, Any]:
        """What the caller gave in the _meta of the call."""
    @property
    def conversation(self) -> Any:
        """The conversation that the caller gave by with_options(); None where it gave none."""
    @property
    def cancelled(self) -> bool:
        """Whether nobody waits for the call any more: it was cancelled, or took too long. A
        function that takes its time looks at it now and then; one that is asynchronous is cancelled
        by itself.
        """
    def secret(self, name: str) -> str:
        """A secret by its name, where the tool may have it: connect() says which. From then on its
        value is hidden in all results, errors, progress and logs of the host, unless it has under
        eight bytes.

        Raises PolicyDenied where the tool may not have it, UsageError where there is none.
        """
    def report(
        self, progress: float, total: float | None = None, message: str | None = None
    ) -> None:
        """Tells the caller how far the call has come, and begins its timeouts.idle anew."""

@final
class _Job:
    """One call of a function that is a tool. Dropped without an end it fails."""

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments, which match the schema of the tool."""
    @property
    def context(self) -> CallContext:
        """The surroundings of the call."""
    @property
    def event_loop(self) -> AbstractEventLoop | None:
        """The loop that waits for the call; None where none does."""
    def end(self, observation: Observation) -> None:
        """Ends the call. A second end does nothing."""
    def fail(self, message: str) -> None:
        """Ends the call as one that failed for no fault of the function's."""
    def on_cancel(self, cancel: Callable[[], object]) -> None:
        """Sets what is called, on another thread, when nobody waits for the call any more."""

@final
class InterceptedCall:
    """A checked call on its way to its tool."""

    @property
    def tool(self) -> str:
        """The name of the tool that is called."""
    @property
    def toolbox(self) -> str:
        """The toolbox of the tool, as the config writes its key."""
    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments, which match the tool's schema."""
    def run(self, arguments: Mapping[str, Any] | None = None, /) -> Observation:
        """Lets the call go on, with other arguments where some are given, and gives what comes of
        it. For interceptors, once.
        """
    def arun(self, arguments: Mapping[str, Any] | None = None, /) -> Future[Observation]:
        """run() for asynchronous code: the future gives the observation."""

@final
class Question:
    """What is asked about one call, before it may run."""

    @property
    def tool(self) -> str:
        """The name of the tool that is called."""
    @property
    def toolbox(self) -> str:
        """The toolbox of the tool, as the config writes its key."""
    @property
    def arguments(self) -> str:
        """The arguments as the JSON text that is sent."""
    @property
    def level(self) -> int:
        """The level of the call, from 0 to 4."""
    @property
    def risk(self) -> str:
        """The risk: "unknown", "low", "medium" or "high"."""
    @property
    def rule(self) -> str:
        """The rule that led to the question."""
    @property
    def text(self) -> str:
        """The whole question, for a person: several lines, safe for a terminal."""

@final
class _Verdict:
    """Takes what a function says. Dropped without a word, it said nothing."""

    def observed(self, observation: Observation) -> None:
        """Answers the call in its tool's place."""
    def words(self, word: str | None = None) -> None:
        """Says a word, or nothing."""
    def refused(self, why: str) -> None:
        """Refuses the call."""
    def failed(self, how: str) -> None:
        """Says that the function failed."""
    def on_cancel(self, cancel: Callable[[], object]) -> None:
        """Sets what is called, on another thread, when nobody waits for the call any more."""
    @property
    def is_over(self) -> bool:
        """Whether nobody waits for it any more."""

@final
class _Held:
    """Whether the thread of a loop waits in a synchronous call."""

    def __new__(cls) -> _Held: ...
    def begin(self) -> None:
        """Says that it is this thread."""
    @property
    def is_held(self) -> bool:
        """Whether the thread waits now."""

@final
class _Names:
    """The names of the tools that Python code registered, and their aliases."""

    def __new__(cls) -> _Names: ...
    def register(self, name: str, class_name: str | None, replace: bool) -> list[str]:
        """Registers a name, and the name of its class. Gives the names that it takes the place
        of.
        """
    def unregister(self, name: str) -> bool:
        """Forgets a registered name. Gives whether there was one."""
    def names(self) -> list[str]:
        """All registered names, in order."""
    def find(self, wanted: str) -> str:
        """The registered name that a name, an alias or the name of a class means."""

@final
class Host:
    """All toolboxes of an agent behind one door. connect() and aconnect() make one.

    It may be used by many threads and loops at once. Each method that waits has a twin that is
    awaited, such as call() and acall().
    """

    def __new__(cls, *_args: object, **_kwargs: object) -> NoReturn: ...
    @property
    def tools(self) -> list[Tool]:
        """The tools there are now, in the order of the config and then of their servers."""
    @property
    def tools_changed(self) -> bool:
        """Whether a server has said, since the last refresh, that its tools changed."""
    @property
    def warnings(self) -> list[str]:
        """What was odd in the config, and what of it cannot be used: one sentence each."""
    @property
    def closed(self) -> bool:
        """Whether it was closed."""
    def status(self) -> list[ToolboxStatus]:
        """How each toolbox is now, in the order of the config. Never waits."""
    def call(
        self, name: str, args: Mapping[str, Any] | None = None, /, **arguments: Any
    ) -> Observation:
        """Calls a tool by its name and waits for what it answers. The arguments are a mapping,
        keywords, or both; what the call itself is to have, such as a timeout, is said by
        with_options().

        An observation means that the tool answered, also when it says that it failed; look at
        is_error. Raises ToolspanError for every other end.
        """
    def acall(
        self, name: str, args: Mapping[str, Any] | None = None, /, **arguments: Any
    ) -> Future[Observation]:
        """call() for asynchronous code: the future gives the observation. Cancelling it cancels the
        call, here and at the server.
        """
    def run(self, model_call: Any, /) -> Observation:
        """Runs a tool call as a model made it, in the form of any of the big APIs. Every end is an
        observation that the model can read.
        """
    def arun(self, model_call: Any, /) -> Future[Observation]:
        """run() for asynchronous code: the future gives the observation."""
    def run_batch(self, model_calls: Sequence[Any], /) -> list[Observation]:
        """Runs all tool calls of one answer of a model, several at a time, and gives an observation
        for each, in the order of the calls. What comes after a call of the tool "finish" is not
        run. A failure of one call leaves the others alone.
        """
    def arun_batch(self, model_calls: Sequence[Any], /) -> Future[list[Observation]]:
        """run_batch() for asynchronous code: the future gives the observations."""
    def search(self, query: str, /, *, limit: int = 10) -> list[Tool]:
        """The tools there are now that have a word of the query in their name, their description or
        their parameters: the best first, at most limit. Never starts a server.
        """
    def find(self, name: str, /) -> Tool:
        """The tool that a name means, after starting what needs to be started to know it."""
    def afind(self, name: str, /) -> Future[Tool]:
        """find() for asynchronous code: the future gives the tool."""
    def refresh(self) -> None:
        """Lists the tools of every toolbox again; one that has failed is started again."""
    def arefresh(self) -> Future[None]:
        """refresh() for asynchronous code."""
    def with_options(
        self,
        *,
        timeout: float | None = None,
        headers: Mapping[str, str] | None = None,
        meta: Mapping[str, Any] | None = None,
        on_progress: Callable[[Progress], object] | None = None,
        conversation: object | None = None,
    ) -> Host:
        """A view of the same host whose calls have options. Options add up; of two that say the
        same, the later one holds.

        timeout is the longest time for a whole call, in seconds. headers are sent with the requests
        of a call over HTTP, meta in the _meta of the request. on_progress is called with Progress:
        for call() on the caller's thread, for acall() on its loop. conversation is any object, for
        the tools of Python that look at the context of their call.
        """
    @overload
    def tool(self, function: _FunctionT, /) -> _FunctionT:
        """Makes a tool of a function, which may be asynchronous; a decorator.

        Its parameters and their types are what a model is told, and what arguments are checked
        against before the function sees them; its docstring says what it does. What it returns
        becomes an observation, and so does an exception: type and message, the traceback goes to
        the logger "toolspan". A first parameter of the type CallContext is given the surroundings
        of the call.

        Calls run side by side, unless resources names what each call must have for itself. Raises
        TypeError for a function that cannot be described, and ToolspanError where the name is
        taken.
        """
    @overload
    def tool(
        self,
        function: None = None,
        /,
        *,
        name: str | None = None,
        description: str | None = None,
        annotations: Mapping[str, Any] | SupportsHints | None = None,
        resources: Iterable[str] | None = None,
    ) -> Callable[[_FunctionT], _FunctionT]:
        """Makes a tool of a function, which may be asynchronous; a decorator.

        Its parameters and their types are what a model is told, and what arguments are checked
        against before the function sees them; its docstring says what it does. What it returns
        becomes an observation, and so does an exception: type and message, the traceback goes to
        the logger "toolspan". A first parameter of the type CallContext is given the surroundings
        of the call.

        Calls run side by side, unless resources names what each call must have for itself. Raises
        TypeError for a function that cannot be described, and ToolspanError where the name is
        taken.
        """
    def add_tool(
        self,
        tool: ToolDefinition[Any, Any] | ToolSpec | Mapping[str, Any] | str,
        /,
        *,
        conv_state: object | None = None,
    ) -> list[str]:
        """Adds a ToolDefinition of toolspan.tools, or the tools that a ToolSpec asks for. Gives
        their names. conv_state is handed to whoever makes the tools of a spec.

        Raises what resolve_tool() does, and ToolspanError where a name is taken: then none is
        added.
        """
    def remove_tool(self, name: str, /) -> bool:
        """Takes a tool out that was added by tool() or add_tool(). Calls under way go on. Gives
        whether there was one.
        """
    def _add_tool(
        self,
        definition: Mapping[str, Any],
        runner: Any,
        resources: list[str] | None,
        closes: bool,
        declares: bool = False,
    ) -> None:
        """Adds a tool that a runner of Python runs. With declares the runner says for each call
        what that must have for itself.
        """
    def _specs(self) -> list[tuple[str, dict[str, Any]]]:
        """The tools that the config names and code of Python makes: the name and params of each."""
    def _warn(self, warning: str) -> None:
        """Logs that something of the config cannot be used, and adds it to the warnings."""
    def _quiet(self) -> Host:
        """A view of the same host that never warns of a running loop."""
    def to_openai(self, *, strict: bool = False) -> list[dict[str, Any]]:
        """The tools in the form of the OpenAI APIs: the tools of a Chat Completions request. With
        strict the API holds the model to the schema of each tool that can be given so. What the
        host asks a model for beside a tool's own arguments (see connect()) stands first in each
        schema, and run() takes it out again.
        """
    def to_responses(self, *, strict: bool = False) -> list[dict[str, Any]]:
        """The tools of an OpenAI Responses request. strict is as in to_openai()."""
    def to_anthropic(self, *, strict: bool = False) -> list[dict[str, Any]]:
        """The tools of an Anthropic Messages request. strict is as in to_openai()."""
    def to_gemini(self, *, openapi: bool = False) -> list[dict[str, Any]]:
        """The tools of a Gemini request: one element with all function declarations. They have
        their schemas as parametersJsonSchema; with openapi as parameters, for what does not take
        that.
        """
    def tool_results(
        self,
        api: str,
        model_calls: Sequence[Any],
        observations: Sequence[Observation],
        /,
    ) -> list[dict[str, Any]]:
        """The answers to the calls of one turn of a model, in the form of its API: messages for
        "openai", items for "responses", content blocks for "anthropic", parts for "gemini". The
        calls are as the API gave them, the observations those of run() or run_batch(), in the same
        order. Images go along where the API takes them.
        """
    def losses(self, api: str, /, *, strict: bool = False) -> list[dict[str, Any]]:
        """What the form of an API changes of the tools: dicts with tool, pointer, effect, what and
        why. A tool that the API cannot take is left out alone, with the effect "left_out". The api
        is "openai", "responses", "anthropic", "gemini", "gemini-openapi" or "mcp".
        """
    def to_mcp(self) -> list[dict[str, Any]]:
        """The tools as an MCP server lists them, under the names to call them by."""
    def close(self) -> None:
        """Ends every server, and waits until nothing of them is left, within timeouts.close. Calls
        under way end as ClosedError. A second close does nothing, and so does one in a forked
        process.
        """
    def aclose(self) -> Future[None]:
        """close() for asynchronous code."""
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

def _last_words(stderr: str) -> str:
    """The last lines of a server's standard error in one line, bounded and safe to show."""

def _observation(
    blocks: list[Any] | None,
    structured: Any,
    is_error: bool,
    for_model: list[Any] | None = None,
    visual: str | None = None,
) -> Observation:
    """An observation of blocks as MCP writes them, of a structured result, or of both; without
    blocks its text is the result's JSON. for_model are the blocks that a model is given in their
    place, visual is what people are shown.
    """

def _tool_name(class_name: str) -> str:
    """The name of the tool that a class is: TerminalTool is terminal."""

def connect(
    config: str | PathLike[str] | Mapping[str, Any] | None,
    on_log: Callable[[LogMessage], object] | None,
    quiet: bool = False,
    settle: bool = True,
    rules: dict[str, Any] | None = None,
) -> Host:
    """Connects a config and waits until each toolbox is ready or has failed.

    quiet is for code that has to be synchronous wherever it runs, such as a plugin of another
    program: no call of the host warns that a loop is running, and what was odd in the config is in
    its warnings alone. Without settle nothing is started or waited for: the first refresh() does
    it, and a close() from elsewhere ends it.
    """

def aconnect(
    config: str | PathLike[str] | Mapping[str, Any] | None,
    on_log: Callable[[LogMessage], object] | None,
    rules: dict[str, Any] | None = None,
) -> Future[Host]:
    """connect for asynchronous code; the future gives the host."""
