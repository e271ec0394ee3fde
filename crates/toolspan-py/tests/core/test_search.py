"""Which tools of a host are found by a few words?"""

from __future__ import annotations

import pytest
import toolspan


def test_tools_are_found_by_their_names_words_and_parameters() -> None:
    with toolspan.connect({"mcpServers": {}}) as host:

        @host.tool
        def get_weather(city: str) -> str:
            """Tells how warm it is."""
            return city

        @host.tool
        def send_mail(to: str) -> str:
            """Sends a letter to somebody in a city."""
            return to

        def names(query: str, limit: int = 10) -> list[str]:
            return [tool.name for tool in host.search(query, limit=limit)]

        assert names("weather") == ["get_weather"]
        assert names("city") == ["get_weather", "send_mail"]
        assert names("city", limit=1) == ["get_weather"]
        assert names("database") == names("") == []

        host.tool(name="database")(lambda: None)
        assert names("database") == ["database"]
        assert host.remove_tool("database") and names("database") == []
        with pytest.raises(OverflowError):
            host.search("city", limit=-1)
