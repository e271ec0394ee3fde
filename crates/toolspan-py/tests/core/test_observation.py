"""What is a caller given of a tool's answer, block by block and as a whole?"""

from __future__ import annotations

import gc
import json
from collections.abc import Iterator
from typing import Any

import pytest
import toolspan
from kit.mirror import Mirror, mirror

#: "AAEC" is base64 of these.
BYTES = bytes([0, 1, 2])

TEXT = {"type": "text", "text": "words", "annotations": {"audience": ["user"]}, "_meta": {"x": 1}}
IMAGE = {"type": "image", "data": "AAEC", "mimeType": "image/png", "new": True}
AUDIO = {"type": "audio", "data": "AAEC", "mimeType": "audio/wav"}
IN_TEXT = {
    "type": "resource",
    "resource": {"uri": "x://text", "mimeType": "text/plain", "text": "in it", "size": 5},
    "annotations": {"priority": 0.5},
}
IN_BYTES = {"type": "resource", "resource": {"uri": "x://blob", "blob": "AAEC"}}
LINK = {"type": "resource_link", "uri": "x://link", "name": "a link", "description": "elsewhere"}
UNKNOWN = {"type": "hologram", "beam": [1, 2.5, None]}
BROKEN = {"type": "text", "text": None}

#: Each kind of block, and the class of it.
KINDS: list[tuple[Any, type]] = [
    (TEXT, toolspan.TextContent),
    (IMAGE, toolspan.ImageContent),
    (AUDIO, toolspan.AudioContent),
    (IN_TEXT, toolspan.EmbeddedResource),
    (IN_BYTES, toolspan.EmbeddedResource),
    (LINK, toolspan.ResourceLink),
    (UNKNOWN, toolspan.OtherContent),
    (BROKEN, toolspan.OtherContent),
    ("no object", toolspan.OtherContent),
    (None, toolspan.OtherContent),
]
BLOCKS = [block for block, _ in KINDS]


@pytest.fixture
def there() -> Iterator[Mirror]:
    with mirror() as mirrored:
        yield mirrored


def words(*texts: str) -> list[dict[str, str]]:
    return [{"type": "text", "text": text} for text in texts]


def test_every_block_is_of_the_class_of_its_kind_and_kept_whole(there: Mirror) -> None:
    observation = there.answer(*BLOCKS)
    assert [type(block) for block in observation.content] == [kind for _, kind in KINDS]
    assert [block.to_dict() for block in observation.content] == BLOCKS
    assert observation.raw == BLOCKS
    assert all(isinstance(block, toolspan.Content) for block in observation.content)


def test_what_a_block_says_is_what_the_server_sent(there: Mirror) -> None:
    # The class of each is that of its place, as another test says.
    blocks: list[Any] = list(there.answer(*BLOCKS).content)
    text, image, audio, resource, blob, link, other, broken, _, _ = blocks
    assert (text.type, text.text) == ("text", "words")
    assert (image.type, image.data, image.mime_type) == ("image", "AAEC", "image/png")
    assert (audio.type, audio.data, audio.mime_type) == ("audio", "AAEC", "audio/wav")
    assert image.to_bytes() == audio.to_bytes() == BYTES
    assert (resource.type, resource.uri, resource.mime_type) == (
        "resource",
        "x://text",
        "text/plain",
    )
    assert (resource.text, resource.blob) == ("in it", None)
    assert (blob.mime_type, blob.text, blob.blob) == (None, None, "AAEC")
    assert (link.type, link.uri, link.name) == ("resource_link", "x://link", "a link")
    assert (other.type, broken.type) == ("hologram", "text")


def test_blocks_can_be_matched(there: Mirror) -> None:
    def about(block: toolspan.Content) -> Any:
        match block:
            case toolspan.TextContent(text):
                return text
            case toolspan.ImageContent(data, mime_type) | toolspan.AudioContent(data, mime_type):
                return data, mime_type
            case toolspan.EmbeddedResource(uri):
                return uri
            case toolspan.ResourceLink(uri, name):
                return uri, name
            case toolspan.OtherContent(type=kind):
                return kind

    assert [about(block) for block in there.answer(*BLOCKS[:7]).content] == [
        "words",
        ("AAEC", "image/png"),
        ("AAEC", "audio/wav"),
        "x://text",
        "x://blob",
        ("x://link", "a link"),
        "hologram",
    ]


def test_blocks_are_equal_where_all_that_they_say_is(there: Mirror) -> None:
    one, other = there.answer(*BLOCKS, *BLOCKS).content, there.answer(*BLOCKS).content
    assert one == other + other
    assert one[: len(other)] == one[len(other) :]
    assert len(set(one)) == len({*one, *other}) == len(BLOCKS)
    assert one[0] != one[1]
    assert one[0].__eq__("words") is NotImplemented
    assert there.answer(TEXT | {"_meta": {}}).content != there.answer(TEXT).content
    assert there.answer(IMAGE | {"type": "audio"}).content != there.answer(IMAGE).content


@pytest.mark.parametrize("data", ["AAE", "AA==x", "AA EC", "äöüß", "_-_-"])
def test_bytes_that_are_no_base64_are_a_value_error_with_the_reason(
    there: Mirror, data: str
) -> None:
    [block] = there.answer(IMAGE | {"data": data}).content
    assert isinstance(block, toolspan.ImageContent)
    assert block.data == data
    with pytest.raises(ValueError, match="no base64: .+"):
        block.to_bytes()


def test_nothing_of_an_answer_can_be_changed(there: Mirror) -> None:
    observation = there.answer(*BLOCKS)
    for thing, name in [(observation, "text"), *((block, "type") for block in observation.content)]:
        with pytest.raises(AttributeError):
            setattr(thing, name, "other")
    observation.content.clear()
    observation.raw.clear()
    assert len(observation.content) == len(observation.raw) == len(BLOCKS)


@pytest.mark.parametrize(
    ("blocks", "structured", "text"),
    [
        ([], None, ""),
        (words("a"), None, "a"),
        ([*words("a", "b"), IMAGE, *words("c")], {"x": 1}, "a\nb\nc"),
        ([IMAGE], {"x": [1, None]}, '{"x":[1,null]}'),
        ([IMAGE], None, ""),
        (words(""), {"x": 1}, ""),
    ],
)
def test_the_text_is_that_of_the_text_blocks_or_the_structured_result(
    there: Mirror, blocks: list[Any], structured: Any, text: str
) -> None:
    members = {} if structured is None else {"structuredContent": structured}
    observation = there.answer(*blocks, **members)
    assert observation.text == str(observation) == text
    assert observation.structured == structured


def test_a_failure_of_the_tool_is_an_answer(there: Mirror) -> None:
    observation = there.answer(*words("no such city"), isError=True)
    assert observation.is_error and observation.text == "no such city"
    first, second = observation.to_llm_content()
    said = there.answer(*words("[The tool reported an error]", "no such city"))
    assert [first, second] == said.content
    assert not there.answer(*words("fine")).is_error


def test_the_structured_result_is_plain_python(there: Mirror) -> None:
    value = {"z": [1, 2.0, -0.0, 2**63, None, True, "é🦀"], "a": {"": {}}, "b": []}
    observation = there.answer(structuredContent=value)
    assert repr(observation.structured) == repr(value)
    assert repr(observation.to_dict()) == repr({"content": [], "structuredContent": value})
    observation.structured.clear()
    assert observation.structured == value


def test_further_members_are_kept(there: Mirror) -> None:
    observation = there.answer(_meta={"x/y": 1}, later=[True])
    assert observation.extra == {"_meta": {"x/y": 1}, "later": [True]}
    assert there.answer().extra == {}


def test_the_whole_is_the_result_as_mcp_writes_it(there: Mirror) -> None:
    members = {"structuredContent": {"x": 1}, "isError": True, "_meta": {"y": 2}}
    assert there.answer(*BLOCKS, **members).to_dict() == {"content": BLOCKS, **members}


def test_a_structured_result_that_breaks_the_output_schema_is_marked_and_kept() -> None:
    takes, gives = {"type": "object"}, {"type": "object", "properties": {"n": {"type": "integer"}}}
    with mirror({"name": "out", "inputSchema": takes, "outputSchema": gives}) as there:
        bad = there.host.call("m__out", content=[], structuredContent={"n": "one"})
        assert (
            bad.schema_violation is not None and "/n: expected an integer" in bad.schema_violation
        )
        assert bad.structured == {"n": "one"} and not bad.is_error
        good = there.host.call("m__out", content=[], structuredContent={"n": 1})
        assert good.schema_violation is None


def test_a_model_is_given_texts_and_images_alone(there: Mirror) -> None:
    given = there.answer(*BLOCKS).to_llm_content()
    assert [type(part) for part in given].count(toolspan.ImageContent) == 1
    assert {type(part) for part in given} == {toolspan.TextContent, toolspan.ImageContent}
    texts = [part.text for part in given if isinstance(part, toolspan.TextContent)]
    assert texts[:4] == [
        "words",
        "[audio audio/wav, 3 bytes]",
        "in it",
        "[resource x://blob, 3 bytes]",
    ]
    assert "AAEC" not in "".join(texts)


def test_what_a_model_is_given_is_bounded(there: Mirror) -> None:
    observation = there.answer(*words("x" * 40_000, "y"))
    [first, second] = observation.to_llm_content()
    assert isinstance(first, toolspan.TextContent) and isinstance(second, toolspan.TextContent)
    assert 29_990 <= len(first.text + second.text) <= 30_000
    assert " of 40000 characters left out" in first.text
    assert "1 more part of 1 characters" in second.text
    [first, _] = observation.to_llm_content(200)
    assert isinstance(first, toolspan.TextContent)
    assert first.text.startswith("xxxxx") and "…]\nxxxxx" in first.text
    assert len(observation.to_llm_content(40_001)) == 2
    assert observation.text == "x" * 40_000 + "\ny"


def test_the_text_for_a_model_is_cut_in_the_middle(there: Mirror) -> None:
    observation = there.answer(*words("0123456789", "abcdefghij"), isError=True)
    notice = "[… 15 of 21 characters left out …]"
    assert observation.to_llm_text(12) == f"012\n{notice}\nhij"
    assert observation.to_llm_text(21) == observation.to_llm_text() == observation.text
    assert "21 of 21" in observation.to_llm_text(0)
    long = there.answer(*words("0123456789" * 100))
    for most in (80, 81, 500, 999):
        assert most - 2 <= len(long.to_llm_text(most)) <= most
    for bad in (-1, 1.5, "6"):
        with pytest.raises((OverflowError, TypeError)):
            observation.to_llm_text(bad)  # type: ignore[arg-type]


def test_the_bound_is_that_of_the_config() -> None:
    with mirror(limits={"output_chars": 10}) as short:
        observation = short.answer(*words("x" * 20))
        assert "15 of 20 characters left out" in observation.to_llm_text()
        [part] = observation.to_llm_content()
        assert part == short.answer(*words(observation.to_llm_text())).content[0]
        assert observation.text == "x" * 20


def test_how_an_answer_shows_is_short_whatever_is_in_it(there: Mirror) -> None:
    long = "\x1b[31m" + "x" * 1_000_000
    observation = there.answer(
        *words(long),
        IMAGE | {"mimeType": long},
        {"type": "resource", "resource": {"uri": long, "text": long}},
        {"type": "resource_link", "uri": long, "name": long},
        {"type": long},
        isError=True,
    )
    for thing in (observation, *observation.content):
        assert len(repr(thing)) < 600 and repr(thing).isprintable()
        assert type(thing).__name__ in repr(thing)
    assert "is_error=True" in repr(observation) and "blocks=5" in repr(observation)
    assert repr(there.answer(TEXT).content) == "[TextContent(text='words')]"
    assert repr(there.answer(IMAGE).content) == "[<ImageContent image/png, 3 bytes>]"
    assert repr(there.answer(LINK).content) == "[<ResourceLink x://link (a link)>]"


def test_a_block_outlives_its_observation_and_its_host() -> None:
    with mirror() as there:
        block = there.answer(*BLOCKS).content[0]
    gc.collect()
    assert block == block and block.to_dict() == TEXT


def test_an_answer_with_a_hundred_thousand_blocks_is_read_when_asked(there: Mirror) -> None:
    many = words(*map(str, range(100_000)))
    observation = there.answer(*many)
    assert observation.text == "\n".join(map(str, range(100_000)))
    assert json.dumps(observation.raw) == json.dumps(many)
    assert observation.content[99_999] == there.answer(*words("99999")).content[0]
    assert len(repr(observation)) < 200


def test_answers_cannot_be_made_or_inherited_from() -> None:
    for name in ("Observation", "TextContent", "OtherContent", "Tool", "Progress", "LogMessage"):
        kind = getattr(toolspan, name)
        assert kind.__module__ == "toolspan" and kind.__doc__
        with pytest.raises(TypeError):
            kind()
        with pytest.raises(TypeError):
            type("Heir", (kind,), {})


def test_a_program_makes_blocks_of_its_own() -> None:
    said = toolspan.TextContent(text="a")
    assert said.to_dict() == {"type": "text", "text": "a"} and said == toolspan.TextContent("a")
    image = toolspan.ImageContent(b"\0\1", "image/png")
    assert (image.data, image.mime_type, image.to_bytes()) == ("AAE=", "image/png", b"\0\1")
    assert image == toolspan.ImageContent("AAE=", "image/png")
    sound = toolspan.AudioContent("AAE=", "audio/wav")
    assert sound.to_dict() == {"type": "audio", "data": "AAE=", "mimeType": "audio/wav"}
    for kind in (toolspan.ImageContent, toolspan.AudioContent):
        with pytest.raises(ValueError, match="no base64"):
            kind("no base64!", "image/png")
        with pytest.raises(TypeError):
            kind(5, "image/png")  # type: ignore[arg-type]
