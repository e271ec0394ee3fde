"""What does a host do with what it is given: a config, a call, options?"""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
import toolspan
from kit.processes import kill, wait_gone

PlainServer = Callable[..., dict[str, Any]]


@pytest.fixture
def host(plain: PlainServer) -> Iterator[toolspan.Host]:
    with toolspan.connect({"mcpServers": {"plain": plain()}}) as host:
        yield host


def test_what_is_given_by_keyword_is_an_argument_whatever_its_name(host: toolspan.Host) -> None:
    seen = host.call("plain__any", {"a": 1}, name="n", self=2, args=3, timeout=4, kwargs=5)
    assert seen.text == '{"a": 1, "args": 3, "kwargs": 5, "name": "n", "self": 2, "timeout": 4}'


def test_arguments_come_from_a_mapping_by_keyword_or_from_nowhere(host: toolspan.Host) -> None:
    assert host.call("plain__echo", {"text": "mapping"}).text == "mapping"
    assert host.call("plain__echo", None, text="keyword").text == "keyword"
    assert host.call("plain__count").text == "1"


@pytest.mark.parametrize("name", ["args", "arguments"])
def test_a_dict_that_is_given_by_keyword_is_set_right_or_refused_with_how_to_give_it(
    host: toolspan.Host, plain: Callable[..., dict[str, Any]], name: str
) -> None:
    seen = host.call("plain__echo", **{name: {"text": "a"}})
    assert seen.text == "a" and len(seen.repairs) == 1
    with toolspan.connect({"mcpServers": {"plain": plain()}, "repair": False}) as other:
        with pytest.raises(toolspan.InvalidArguments, match="give the dict as the second argument"):
            other.call("plain__echo", **{name: {"text": "a"}})


def test_a_tool_that_is_given_in_place_of_its_name_is_refused_with_what_to_give(
    host: toolspan.Host,
) -> None:
    tool: Any = host.find("plain__echo")
    for method in (host.call, host.acall, host.find, host.afind):
        with pytest.raises(TypeError, match=r"^a tool is called by its name: give tool\.name"):
            method(tool)
        with pytest.raises(TypeError, match="^the name of a tool must be a str, not bytes"):
            method(b"plain__echo")  # type: ignore[arg-type]
    assert host.call(tool.name, text="a").text == "a"


@pytest.mark.parametrize("args", [(), ({"mcpServers": {}},)])
def test_the_class_of_a_host_says_how_one_is_made(args: tuple[Any, ...]) -> None:
    with pytest.raises(TypeError, match=r"made by connect\(config\), or by aconnect\(config\)"):
        toolspan.Host(*args)
    with pytest.raises(TypeError, match="connect"):
        toolspan.Host(config=args)


def test_a_tool_that_fails_is_an_observation_and_all_else_an_exception(
    host: toolspan.Host,
) -> None:
    seen = host.call("plain__fail", text="no luck")
    assert (seen.is_error, seen.text) == (True, "no luck")
    with pytest.raises(toolspan.RemoteError):
        host.call("plain__refuse", text="no luck")
    with pytest.raises(toolspan.InvalidArguments) as invalid:
        host.call("plain__echo", text=1)
    assert invalid.value.violations[0]["pointer"] == "/text"
    with pytest.raises(toolspan.ToolNotFound) as unknown:
        host.call("plain__ecko", text="a")
    assert "plain__echo" in unknown.value.suggestions


def test_a_call_after_the_death_of_its_server_is_answered_by_a_new_one(
    host: toolspan.Host,
) -> None:
    for _ in range(5):
        pid = int(host.call("plain__pid").text)
        kill(pid)
        # It has closed its input by then; that the host knows already is chance.
        wait_gone(pid)
        assert int(host.call("plain__pid").text) != pid


def test_every_end_of_a_models_call_is_an_observation(host: toolspan.Host) -> None:
    call = {"name": "plain__echo", "arguments": '{"text": "model"}'}
    assert host.run({"type": "function", "id": "1", "function": call}).text == "model"
    seen = host.run({"name": "plain__none", "arguments": {}})
    assert seen.is_error
    assert "plain__none" in seen.text


def test_options_add_up_and_the_later_ones_hold(host: toolspan.Host) -> None:
    first = host.with_options(meta={"a": 1, "b": 1}, timeout=0)
    second = first.with_options(meta={"b": 2}, timeout=30)
    assert '"a": 1, "b": 2' in second.call("plain__meta").text
    with pytest.raises(toolspan.Timeout):
        first.call("plain__meta")
    assert '"a"' not in host.call("plain__meta").text


@pytest.mark.parametrize(
    ("options", "error"),
    [
        ({"timeout": -1}, ValueError),
        ({"timeout": float("nan")}, ValueError),
        ({"timeout": float("inf")}, ValueError),
        ({"timeout": "5"}, TypeError),
        ({"timeout": True}, TypeError),
        ({"timeout": 10**400}, ValueError),
        ({"headers": {"a": 1}}, TypeError),
        ({"headers": ["a"]}, TypeError),
        ({"meta": [1]}, TypeError),
        ({"meta": {"a": {1}}}, toolspan.InvalidArguments),
        ({"on_progress": 1}, TypeError),
        ({"other": 1}, TypeError),
    ],
)
def test_an_option_that_is_none_is_refused_at_once(
    host: toolspan.Host, options: dict[str, Any], error: type[Exception]
) -> None:
    with pytest.raises(error):
        host.with_options(**options)


def test_progress_is_told_on_the_thread_of_the_caller(host: toolspan.Host) -> None:
    seen: list[toolspan.Progress] = []
    told = host.with_options(on_progress=seen.append)
    told.call("plain__progress", steps=3)
    assert seen
    assert (seen[-1].progress, seen[-1].total, seen[-1].message) == (3, 3, "step 3")


def test_changed_tools_are_known_after_a_refresh(plain: PlainServer) -> None:
    with toolspan.connect({"mcpServers": {"plain": plain("--list-changed")}}) as host:
        assert not host.tools_changed
        host.call("plain__grow", name="later")
        assert host.tools_changed
        host.refresh()
        assert not host.tools_changed
        assert host.call("plain__later").text == "later"
        assert host.find("plain__later").original_name == "later"


def test_a_closed_host_says_so_and_closes_again(plain: PlainServer) -> None:
    host = toolspan.connect({"mcpServers": {"plain": plain()}})
    assert not host.closed
    with host as same:
        assert same is host
    assert host.closed
    host.close()
    with pytest.raises(toolspan.ClosedError):
        host.call("plain__count")
    assert repr(host) == "<toolspan.Host plain (closed)>"


def test_an_exception_passes_through_a_with_block(plain: PlainServer) -> None:
    config = {"mcpServers": {"plain": plain()}}
    with pytest.raises(KeyError), toolspan.connect(config) as host:
        raise KeyError
    assert host.closed


@pytest.mark.parametrize("config", [5, b"toolspan.json", ["mcpServers"], True])
def test_what_is_no_config_is_refused(config: Any) -> None:
    with pytest.raises(toolspan.ConfigError, match="neither a path nor a dict"):
        toolspan.connect(config)


@pytest.mark.parametrize(
    "entry", [{}, {"command": 5}, {"type": "smoke", "url": "http://localhost"}, {"url": "nowhere"}]
)
def test_a_config_of_which_nothing_can_be_used_is_an_error(entry: dict[str, Any]) -> None:
    with pytest.raises(toolspan.ConfigError) as raised:
        toolspan.connect({"mcpServers": {"wrong": entry}})
    assert raised.value.toolbox == "wrong"


def test_a_host_shows_its_toolboxes_in_one_line() -> None:
    with toolspan.connect({"mcpServers": {"a\n\x1b[31m": {"command": "/no/such"}}}) as host:
        assert repr(host) == r"<toolspan.Host a\n\u{1b}[31m: 0 tools, 1 failed>"


def test_what_is_odd_in_a_config_is_kept_and_logged_once(
    plain: PlainServer, caplog: pytest.LogCaptureFixture
) -> None:
    config = {"mcpServers": {"plain": plain() | {"comand": "x"}, "wrong": {}}}
    with caplog.at_level(logging.WARNING, "toolspan"), toolspan.connect(config) as host:
        host.refresh()
        assert len(host.warnings) == 2
        assert "comand" in host.warnings[0]
        assert [record.getMessage() for record in caplog.records] == host.warnings
        assert [each["state"] for each in host.status()] == ["ready", "failed"]


def test_a_path_in_a_config_is_its_text(plain: PlainServer) -> None:
    entry = plain()
    entry = entry | {"command": Path(entry["command"]), "cwd": Path("/")}
    with toolspan.connect({"mcpServers": {"plain": entry}}) as host:
        assert host.call("plain__count").text == "1"


def test_each_toolbox_that_failed_is_logged_once_with_its_last_words(
    plain: PlainServer, caplog: pytest.LogCaptureFixture
) -> None:
    entries = {"ready": plain(), "gone": {"command": "no-such-program"}, "ends": plain("--exit")}
    entries["ends"]["args"].append("3")
    with caplog.at_level(logging.WARNING, "toolspan"):
        with toolspan.connect({"mcpServers": entries}) as host:
            assert repr(host).endswith(", 2 failed>")
    gone, ends = (record.getMessage() for record in caplog.records)
    assert 'toolbox "gone" failed: ' in gone and "no-such-program" in gone
    assert 'toolbox "ends" failed: ' in ends and "by hand" in ends
    assert ends.endswith("; its last words: plain: this server does not want to start")


def test_a_config_is_looked_up_where_none_is_given(
    plain: PlainServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "home/config"))
    monkeypatch.delenv("TOOLSPAN_CONFIG", raising=False)
    with pytest.raises(toolspan.ConfigError, match=r"connect\(\)"):
        toolspan.connect()
    text = toolspan_json(plain())
    path = tmp_path / "toolspan.json"
    path.write_text(text)
    # A project's file has to be approved; one that is named needs nothing more.
    with pytest.raises(toolspan.ApprovalRequired, match=r'connect\("toolspan.json"\)'):
        toolspan.connect()
    for named in (path, str(path)):
        with toolspan.connect(named) as host:
            assert host.call("plain__count").text == "1"
    monkeypatch.setenv("TOOLSPAN_CONFIG", os.fspath(path))
    with toolspan.connect() as host:
        assert host.call("plain__count").text == "1"


def toolspan_json(entry: dict[str, Any]) -> str:
    return json.dumps({"mcpServers": {"plain": entry}})


def test_a_view_that_is_quiet_shares_the_host(host: toolspan.Host) -> None:
    quiet = host._quiet()
    assert quiet.call("plain__count").text == "1"
    assert host.call("plain__count").text == "2"
