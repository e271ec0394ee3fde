"""Tools for AI agents: MCP servers behind one typed contract, called synchronously or not.

>>> import toolspan
>>> with toolspan.connect("toolspan.json") as host:  # doctest: +SKIP
...     print(host.call("time__get_current_time", timezone="UTC").text)

``connect`` gives a ``Host``, and so does ``aconnect`` in asynchronous code. Each method of a host
that waits has a twin that is awaited, called the same with an ``a`` before it. Whatever is not an
answer of a tool is raised as a ``ToolspanError``. The toolboxes for OVOS are in ``toolspan.ovos``.
"""

from ._connect import aconnect, connect
from ._errors import (
    ApprovalRequired,
    AuthError,
    Cancelled,
    ClosedError,
    ConfigError,
    ConnectError,
    ForkedProcess,
    InternalError,
    InvalidArguments,
    Overloaded,
    PolicyDenied,
    ProtocolError,
    RemoteError,
    ResponseTooLarge,
    SchemaRejected,
    StartupError,
    Timeout,
    ToolNotFound,
    ToolspanError,
    UsageError,
)
from ._toolspan import (
    AudioContent,
    CallContext,
    Content,
    EmbeddedResource,
    Host,
    ImageContent,
    InterceptedCall,
    LogMessage,
    Observation,
    OtherContent,
    Progress,
    Question,
    ResourceLink,
    TextContent,
    Tool,
    __version__,
)

__all__ = [
    "ApprovalRequired",
    "AudioContent",
    "AuthError",
    "CallContext",
    "Cancelled",
    "ClosedError",
    "ConfigError",
    "ConnectError",
    "Content",
    "EmbeddedResource",
    "ForkedProcess",
    "Host",
    "ImageContent",
    "InterceptedCall",
    "InternalError",
    "InvalidArguments",
    "LogMessage",
    "Observation",
    "OtherContent",
    "Overloaded",
    "PolicyDenied",
    "Progress",
    "ProtocolError",
    "Question",
    "RemoteError",
    "ResourceLink",
    "ResponseTooLarge",
    "SchemaRejected",
    "StartupError",
    "TextContent",
    "Timeout",
    "Tool",
    "ToolNotFound",
    "ToolspanError",
    "UsageError",
    "__version__",
    "aconnect",
    "connect",
]
