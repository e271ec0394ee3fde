"""Which toolbox has the tools of a whole toolspan config?"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ._box import SessionToolBox
from ._config import toolspan_config

if TYPE_CHECKING:
    from ._session import Config


class ToolspanToolBox(SessionToolBox):
    """All tools of a toolspan config.

    The config is a toolspan config itself (``mcpServers``, ``limits``, ``timeouts`` …), or
    ``{"config_file": PATH}``. Where it is empty, the file is looked up as by
    ``toolspan.connect()``.

    Tools are called ``<server>__<tool>``, and are also found as ``server.tool`` and by their own
    names where only one server has them.
    """

    toolbox_id = "toolspan"

    @staticmethod
    def _session_config(config: Any, toolbox_id: str) -> Config:
        return toolspan_config(config)
