"""Which parts of OVOS do the toolboxes build upon?"""

try:
    from ovos_plugin_manager.templates.agent_tools import (
        AgentTool,
        ToolArguments,
        ToolBox,
        ToolOutput,
    )
    from ovos_utils.log import LOG
    from pydantic import ConfigDict, Field, ValidationError, model_validator
    from pydantic_core import PydanticCustomError
except ImportError as error:
    raise ImportError(
        "toolspan.ovos needs ovos-plugin-manager 2.11.1a1 or newer and pydantic 2:"
        f" pip install toolspan[ovos] ({error})",
        name=error.name,
        path=error.path,
    ) from error

__all__ = [
    "LOG",
    "AgentTool",
    "ConfigDict",
    "Field",
    "PydanticCustomError",
    "ToolArguments",
    "ToolBox",
    "ToolOutput",
    "ValidationError",
    "model_validator",
]
