"""What may a program's functions do on the way of every call?"""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import threading
import weakref
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
import toolspan
from kit.stage import LIMIT
from toolspan import InterceptedCall, Question

NOTHING: dict[str, Any] = {"mcpServers": {}}


def connect(**rules: Any) -> toolspan.Host:
    """A host with one tool that says its word, and one that reads."""
    host = toolspan.connect(NOTHING, **rules)

    @host.tool
    def say(word: str, times: int = 1) -> str:
        return word * times

    @host.tool(annotations={"readOnlyHint": True, "openWorldHint": False})
    def look(word: str) -> str:
        return word

    return host


def test_an_interceptor_sees_changes_and_answers_calls() -> None:
    seen: list[tuple[str, str, dict[str, Any]]] = []

    def watch(call: InterceptedCall) -> None:
        seen.append((call.tool, call.toolbox, call.arguments))

    def change(call: InterceptedCall) -> Any:
        if call.arguments["word"] == "answer":
            return {"answered": True}
        if call.arguments["word"] == "change":
            return call.run({"word": "changed"})
        return call.run().text.upper()

    with connect(interceptors=[watch, change]) as host:
        assert host.call("say", word="answer").structured == {"answered": True}
        assert host.call("say", word="change").text == "changed"
        assert host.call("say", word="a", times=2).text == "AA"
    assert seen[-1] == ("say", "native", {"word": "a", "times": 2})


def test_an_asynchronous_interceptor_works_at_both_doors() -> None:
    async def loud(call: InterceptedCall) -> str:
        await asyncio.sleep(0)
        return (await call.arun()).text.upper()

    async def main() -> str:
        return (await host.acall("say", word="b")).text

    with connect(interceptors=[loud]) as host:
        assert host.call("say", word="a").text == "A"
        assert asyncio.run(main()) == "B"


def test_an_interceptor_refuses_and_its_faults_are_those_of_the_call_alone(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def strict(call: InterceptedCall) -> Any:
        match call.arguments["word"]:
            case "refuse":
                raise toolspan.PolicyDenied("not today")
            case "fail":
                raise KeyError("odd")
            case "wrong":
                return call.run({"word": 5})
            case "twice":
                call.run()
                return call.run()
        return None

    with connect(interceptors=[strict]) as host:
        with pytest.raises(toolspan.PolicyDenied, match="not today") as denied:
            host.call("say", word="refuse")
        assert denied.value.tool == "say"
        with caplog.at_level(logging.ERROR, "toolspan"):
            with pytest.raises(toolspan.InternalError, match="KeyError: 'odd'"):
                host.call("say", word="fail")
        assert [record.exc_info is not None for record in caplog.records] == [True]
        with pytest.raises(toolspan.InvalidArguments, match="/word"):
            host.call("say", word="wrong")
        with pytest.raises(toolspan.InternalError, match="once"):
            host.call("say", word="twice")
        assert host.call("say", word="fine").text == "fine"


def test_a_policy_refuses_by_false_or_a_text() -> None:
    def no_secrets(call: InterceptedCall) -> str | bool | None:
        return {"secret": "no secrets here", "bad": False}.get(call.arguments["word"])

    with connect(policy=no_secrets) as host:
        for word, why in {"secret": "no secrets here", "bad": "refuses the call"}.items():
            with pytest.raises(toolspan.PolicyDenied, match=why):
                host.call("say", word=word)
        assert host.call("say", word="fine").text == "fine"


def test_an_approver_is_asked_as_the_policy_wants() -> None:
    asked: list[Question] = []
    answers: list[Any] = [True, False, "too loud", 5, "session"]

    def approve(question: Question) -> Any:
        asked.append(question)
        return answers.pop(0)

    with connect(policy={"confirm": "always"}, approver=approve) as host:
        seen = host.call("say", word="a")
        assert seen.text == "a" and seen.decision is not None
        assert seen.decision["approved_by"] == "once"
        with pytest.raises(toolspan.PolicyDenied):
            host.call("say", word="a")
        with pytest.raises(toolspan.PolicyDenied, match="too loud"):
            host.call("say", word="a")
        with pytest.raises(toolspan.PolicyDenied, match="approver failed"):
            host.call("say", word="a")
    question = asked[0]
    assert (question.tool, question.toolbox, question.arguments) == (
        "say",
        "native",
        '{"word":"a"}',
    )
    assert question.level in range(5) and question.risk in ("unknown", "low", "medium", "high")
    assert question.rule and "arguments: " in question.text


def test_without_an_approver_a_call_that_needs_one_is_refused() -> None:
    with connect(policy={"confirm": "always", "allow": ["look"]}) as host:
        with pytest.raises(toolspan.ApprovalRequired):
            host.call("say", word="a")
        assert host.call("look", word="a").text == "a"
    with pytest.raises(toolspan.ConfigError):
        toolspan.connect(NOTHING, policy={"confirm": "perhaps"})


def test_a_policy_of_the_program_keeps_what_the_config_denies() -> None:
    config = {"mcpServers": {}, "policy": {"deny": ["say"]}}
    with toolspan.connect(config, policy={"allow": ["*"]}) as host:

        @host.tool
        def say() -> str:
            return "said"

        with pytest.raises(toolspan.PolicyDenied):
            host.call("native.say")


def test_an_asynchronous_approver_answers_too() -> None:
    async def approve(question: Question) -> bool:
        await asyncio.sleep(0)
        return question.tool == "say"

    async def main() -> str:
        return (await host.acall("say", word="b")).text

    with connect(policy={"confirm": "always"}, approver=approve) as host:
        assert host.call("say", word="a").text == "a"
        assert asyncio.run(main()) == "b"


def test_analyzers_raise_the_risk_that_a_decision_names(caplog: pytest.LogCaptureFixture) -> None:
    def by_word(call: InterceptedCall) -> str | None:
        return {"low": "low", "high": "high", "odd": "very"}.get(call.arguments["word"])

    async def medium(call: InterceptedCall) -> str:
        return "medium"

    def approve(question: Question) -> bool:
        return question.risk != "high"

    policy = {"confirm": "risky"}
    with connect(policy=policy, approver=approve, analyzers=[by_word, medium]) as host:
        risks = {}
        for word in ("low", "none"):
            decision = host.call("say", word=word).decision
            assert decision is not None
            risks[word] = decision["risk"].lower()
        assert risks == {"low": "medium", "none": "medium"}
        for word in ("high", "odd"):
            with pytest.raises(toolspan.PolicyDenied):
                host.call("say", word=word)


def refuse(call: InterceptedCall) -> str:
    """A policy."""
    return "not so"


async def refuse_later(call: InterceptedCall) -> str:
    """The same."""
    await asyncio.sleep(0)
    return "not so"


class Refuses:
    def __call__(self, call: InterceptedCall) -> str:
        return "not so"

    async def later(self, call: InterceptedCall) -> str:
        return await refuse_later(call)


class RefusesLater:
    async def __call__(self, call: InterceptedCall) -> str:
        return await refuse_later(call)


FUNCTIONS: dict[str, Any] = {
    "function": refuse,
    "partial": functools.partial(refuse),
    "object": Refuses(),
    "lambda": lambda call: "not so",
    "asynchronous": refuse_later,
    "asynchronous partial": functools.partial(refuse_later),
    "asynchronous object": RefusesLater(),
    "asynchronous method": Refuses().later,
    "asynchronous lambda": lambda call: refuse_later(call),
}


@pytest.mark.parametrize("kind", FUNCTIONS)
def test_a_rule_is_a_callable_of_any_kind(kind: str) -> None:
    with connect(policy=FUNCTIONS[kind]) as host:
        with pytest.raises(toolspan.PolicyDenied, match="not so"):
            host.call("say", word="a")


class Mute(Exception):
    def __str__(self) -> str:
        raise ValueError("no words")


def raising(error: type[BaseException], *, later: bool) -> Any:
    """A function that raises."""

    def fail(asked: object) -> None:
        raise error

    async def fail_later(asked: object) -> None:
        raise error

    return fail_later if later else fail


@pytest.mark.parametrize("later", [False, True])
@pytest.mark.parametrize("error", [KeyError, Mute, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("kind", ["interceptors", "policy", "analyzers", "approver"])
def test_a_rule_that_fails_never_lets_a_call_through_unasked(
    kind: str, error: type[BaseException], later: bool
) -> None:
    fail = raising(error, later=later)
    rules: dict[str, Any] = {kind: [fail] if kind.endswith("s") else fail}
    if kind == "approver":
        rules["policy"] = {"confirm": "always", "allow": ["look"]}
    if kind == "analyzers":
        rules["policy"] = {"confirm": "risky"}
    with connect(**rules) as host:
        calls = host.with_options(timeout=LIMIT)
        for _ in range(2):
            with pytest.raises(toolspan.ToolspanError) as caught:
                calls.call("say", word="a")
            denied = {"analyzers": "approval_required", "approver": "policy_denied"}
            assert caught.value.kind == denied.get(kind, "internal")
            assert kind == "analyzers" or error.__name__ in str(caught.value)
    # The loop that ran it serves others.
    with connect(policy=refuse_later) as host, pytest.raises(toolspan.PolicyDenied):
        host.call("say", word="a")


@pytest.mark.parametrize("kind", ["interceptors", "policy", "analyzers", "approver"])
def test_a_timeout_ends_the_wait_for_a_rule_and_cancels_one_that_is_asynchronous(
    kind: str,
) -> None:
    ended = threading.Event()
    go_on = threading.Event()

    async def hang(asked: object) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.set()

    def block(asked: object) -> None:
        go_on.wait(LIMIT)

    rules: dict[str, Any] = {"policy": {"confirm": "always"}} if kind == "approver" else {}
    for function in (hang, block):
        rules[kind] = [function] if kind.endswith("s") else function
        with connect(**rules) as host, pytest.raises(toolspan.Timeout):
            host.with_options(timeout=0.1).call("say", word="a")
    go_on.set()
    assert ended.wait(LIMIT)


@pytest.mark.filterwarnings("ignore:a synchronous call of toolspan stops")
@pytest.mark.parametrize("way", ["call", "acall", "call on a loop"])
@pytest.mark.parametrize("kind", ["interceptors", "policy", "analyzers", "approver"])
def test_a_rule_calls_the_host_that_asks_it(kind: str, way: str) -> None:
    def call(asked: Any) -> Any:
        return host.call("later", word="b") if asked.tool == "say" else None

    async def call_on_a_loop(asked: Any) -> Any:
        return call(asked)

    async def acall(asked: Any) -> Any:
        return await host.acall("later", word="b") if asked.tool == "say" else None

    ways = {"call": call, "acall": acall, "call on a loop": call_on_a_loop}
    seen: list[Any] = []

    async def remember(asked: Any) -> Any:
        said = ways[way](asked)
        seen.append(await said if way != "call" else said)
        return {"interceptors": None, "policy": None, "analyzers": "low", "approver": True}[kind]

    rules: dict[str, Any] = {kind: [remember] if kind.endswith("s") else remember}
    if kind == "approver":
        rules["policy"] = {"confirm": "always", "allow": ["later"]}
    with connect(**rules) as whole:

        @whole.tool
        async def later(word: str) -> str:
            await asyncio.sleep(0)
            return word

        host = whole.with_options(timeout=LIMIT)
        assert host.call("say", word="a").text == "a"
        assert asyncio.run(awaited(host)) == "a"
    assert [each.text for each in seen if each is not None] == ["b", "b"]


async def awaited(host: toolspan.Host) -> str:
    """What a call says, awaited."""
    return (await host.acall("say", word="a")).text


@pytest.mark.filterwarnings("ignore:a synchronous call of toolspan stops")
def test_an_asynchronous_interceptor_lets_a_call_of_an_asynchronous_tool_go_on_synchronously() -> (
    None
):
    async def loud(call: InterceptedCall) -> str:
        return call.run().text.upper()

    with connect(interceptors=[loud]) as host:

        @host.tool
        async def later(word: str) -> str:
            await asyncio.sleep(0)
            return word

        assert host.with_options(timeout=LIMIT).call("later", word="a").text == "A"


def test_many_threads_pass_the_same_rules_at_once() -> None:
    async def seen(call: InterceptedCall) -> Any:
        return (await call.arun()).text + call.arguments["word"]

    rules: dict[str, Any] = {"policy": lambda call: None, "analyzers": [lambda call: "low"]}
    with connect(interceptors=[seen, lambda call: call.run()], **rules) as host:
        with ThreadPoolExecutor(32) as threads:
            said = threads.map(lambda each: host.call("say", word=f"{each},").text, range(320))
            assert list(said) == [f"{each},{each}," for each in range(320)]


def test_what_is_no_function_is_refused_at_once() -> None:
    for rules in ({"approver": 5}, {"analyzers": ["a"]}, {"interceptors": [None]}):
        with pytest.raises(TypeError, match="must be callable"):
            toolspan.connect(NOTHING, **rules)  # type: ignore[arg-type]


def test_repairs_of_a_models_arguments_are_told() -> None:
    with connect() as host:
        seen = host.run({"name": "say", "arguments": '{"word": "a", "times": "2"}'})
        assert seen.text == "aa"
        [repair] = seen.repairs
        assert repair["pointer"] == "/times" and {"kind", "note"} <= repair.keys()
        assert host.call("say", word="a").repairs == []


def test_a_batch_gives_an_observation_for_each_call_in_order() -> None:
    calls = [{"name": "say", "arguments": {"word": str(number)}} for number in range(20)]
    calls[3] = {"name": "sya", "arguments": {}}

    async def main() -> list[toolspan.Observation]:
        return await host.arun_batch(calls)

    with connect() as host:
        host.tool(name="finish")(lambda: "done")
        for seen in (host.run_batch(calls), asyncio.run(main())):
            texts = [each.text for each in seen]
            assert texts[:3] + texts[4:] == [str(number) for number in range(20) if number != 3]
            assert seen[3].is_error and "say" in seen[3].text
        ended = host.run_batch([calls[0], {"name": "finish", "arguments": {}}, calls[1]])
        assert [each.is_error for each in ended] == [False, False, True]


def test_a_host_that_its_own_rules_hold_is_collected() -> None:
    def used() -> weakref.ref[toolspan.Host]:
        held: list[toolspan.Host] = []
        host = connect(interceptors=[lambda call: held and None])
        held.append(host)
        assert host.call("say", word="a").text == "a"
        host.close()
        return weakref.ref(host)

    gone = used()
    gc.collect()
    assert gone() is None
