"""Which parts of OVOS do the toolboxes build upon?"""

from collections.abc import Callable

try:
    from ovos_plugin_manager.templates.agent_tools import (
        AgentTool,
        ToolArguments,
        ToolBox,
        ToolOutput,
    )
    from ovos_utils.log import LOG
    from pydantic import ConfigDict, Field, ValidationError, create_model, model_validator
    from pydantic_core import PydanticCustomError
except ImportError as error:
    raise ImportError(
        "toolspan.ovos needs ovos-plugin-manager 2.11.1a1 or newer and pydantic 2:"
        f" pip install toolspan[ovos] ({error})",
        name=error.name,
        path=error.path,
    ) from error

__all__ = [
    "AgentTool",
    "ConfigDict",
    "Field",
    "PydanticCustomError",
    "ToolArguments",
    "ToolBox",
    "ToolOutput",
    "ValidationError",
    "create_model",
    "model_validator",
    "warn",
]

#: Logs a warning as OVOS does.
warn: Callable[[str], object] = LOG.warning
