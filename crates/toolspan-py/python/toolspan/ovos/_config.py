"""How does the config of an OVOS toolbox become one of ours?"""

from __future__ import annotations

from collections.abc import Mapping
from math import inf
from typing import Any

from .._errors import ConfigError

# Seconds for connecting, for listing and for each call, where the config says nothing.
DEFAULT_TIMEOUT = 30

# One server alone: its tools keep their names, and its failure is raised, which says more than a
# status does.
_ALONE = {"prefix": "", "required": True}

_LOCAL_KEYS = ("command", "args", "env", "cwd")
_REMOTE_KEYS = ("url", "headers")


def server_config(config: Any, toolbox_id: str) -> dict[str, Any]:
    """The config of an ``MCPToolBox``: the keys of one server, or ``mcpServers`` with several.

    What is wrong in a value is left for the reader of configs to say.
    """
    given = _without_nulls(_as_object(config))
    if "mcpServers" not in given:
        # At the top they hold for the server as well, and for what a model is given.
        limits = {"limits": given.pop("limits")} if "limits" in given else {}
        entry = {**_ALONE, **_entry(given, DEFAULT_TIMEOUT)}
        return {"mcpServers": {toolbox_id: entry}, **limits}
    timeout = given.pop("timeout", DEFAULT_TIMEOUT)
    servers = given["mcpServers"]
    if isinstance(servers, Mapping):
        alone = _ALONE if len(servers) == 1 else {}
        given["mcpServers"] = {
            key: {**alone, **_entry(_without_nulls(entry), timeout)}
            if isinstance(entry, Mapping)
            else entry
            for key, entry in servers.items()
        }
    return given


def keeps_names(config: Any) -> bool:
    """Whether a config made by ``server_config`` has one server, and nobody asked for a prefix."""
    entries = [*config["mcpServers"].values()]
    return len(entries) == 1 and not entries[0]["prefix"]


def toolspan_config(config: Any) -> str | dict[str, Any] | None:
    """The config of a ``ToolspanToolBox``: a path, a whole config, or none for a lookup."""
    given = _as_object(config)
    if "config_file" not in given:
        return given or None
    if len(given) > 1:
        others = ", ".join(f'"{key}"' for key in given if key != "config_file")
        raise ConfigError(
            f'"config_file" stands beside {others}',
            hint="write those keys into the file, or leave out config_file",
        )
    path = given["config_file"]
    if not isinstance(path, str):
        raise ConfigError(
            f'"config_file" is {_kind(path)}', hint="give the path of a config file as text"
        )
    return path


def _as_object(config: Any) -> dict[str, Any]:
    if isinstance(config, Mapping):
        return dict(config)
    raise ConfigError(
        f"the config is {_kind(config)}, not an object",
        hint='write an object, such as {"command": "uvx", "args": ["mcp-server-time"]}',
    )


def _entry(given: dict[str, Any], timeout: Any) -> dict[str, Any]:
    """The entry of one server."""
    entry = dict(given)
    # A transport that is named settles which keys count; the others are no mistake in OVOS.
    spoken = entry.get("transport")
    if spoken == "stdio" and "command" in entry:
        entry = {key: value for key, value in entry.items() if key not in _REMOTE_KEYS}
    elif spoken != "stdio" and isinstance(spoken, str) and "url" in entry:
        entry = {key: value for key, value in entry.items() if key not in _LOCAL_KEYS}
    return _with_timeouts(entry, timeout)


def _with_timeouts(entry: dict[str, Any], default: Any) -> dict[str, Any]:
    """The entry with ``timeout`` for connecting, for listing and for each call.

    It is always seconds here; our own key reads a large number as milliseconds.
    """
    timeout = _number(entry.get("timeout", default))
    own = entry.get("timeouts", {})
    if timeout is None or not isinstance(own, Mapping):
        return entry if "timeout" in entry else {**entry, "timeout": default}
    entry.pop("timeout", None)
    each = dict.fromkeys(("connect", "list", "idle", "total"), timeout)
    return {**entry, "timeouts": {**each, **own}}


def _number(value: Any) -> int | float | None:
    """A number that can be a time, also one that is written as text."""
    if isinstance(value, str):
        try:
            value = float(value)
        except ValueError:
            return None
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return None
    # Any other is left where it stands, so that it is refused under its own key.
    return value if 0 < value < inf else None


def _without_nulls(given: Mapping[str, Any]) -> dict[str, Any]:
    """Without the keys that are there and say nothing."""
    return {key: value for key, value in given.items() if value is not None}


def _kind(value: Any) -> str:
    """What a value is called in JSON."""
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "true or false"
    if isinstance(value, str):
        return "text"
    if isinstance(value, (int, float)):
        return "a number"
    if isinstance(value, (list, tuple)):
        return "a list"
    return f"of the type {type(value).__name__}"
