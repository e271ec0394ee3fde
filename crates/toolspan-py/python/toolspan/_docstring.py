"""What does a docstring say of a function and of its parameters?

Read are the styles of Google, NumPy and Sphinx.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

#: The headings that end the description of a function.
SECTIONS = {
    "args",
    "arguments",
    "attributes",
    "example",
    "examples",
    "keyword args",
    "keyword arguments",
    "note",
    "notes",
    "other parameters",
    "parameters",
    "params",
    "raises",
    "references",
    "return",
    "returns",
    "see also",
    "todo",
    "warning",
    "warnings",
    "warns",
    "yield",
    "yields",
}
#: Those below which parameters, or the members of a class, are described.
PARAMETERS = {
    "args",
    "arguments",
    "attributes",
    "keyword args",
    "keyword arguments",
    "other parameters",
    "parameters",
    "params",
}

#: The same as fields of Sphinx.
FIELDS = {
    "param",
    "parameter",
    "arg",
    "argument",
    "key",
    "keyword",
    "attribute",
    "ivar",
    "var",
}

_FIELD = re.compile(r"^\s*:(\w+)([^:]*):\s*(.*)$")
#: An entry may be one of a list; the type in its parentheses may have parentheses itself.
_GOOGLE = re.compile(
    r"^(?:[-*+]\s+)?[*`]{0,2}(\w+)`{0,2}\s*(?:\((?:[^()]|\([^()]*\))*\))?\s*:\s*(.*)$"
)
_NUMPY = re.compile(r"^\*{0,2}(\w+(?:\s*,\s*\w+)*)\s*(?::.*)?$")


@dataclass
class Documented:
    """What a docstring says."""

    description: str
    parameters: dict[str, str] = field(default_factory=dict)


def read(text: str) -> Documented:
    """Reads a docstring whose common indentation was taken away."""
    lines = text.splitlines()
    end = next((at for at in range(len(lines)) if _is_end(lines, at)), len(lines))
    said = Documented("\n".join(lines[:end]).strip())
    at = end
    while at < len(lines):
        heading = _heading(lines, at)
        if heading is None:
            at = _read_field(lines, at, said)
            continue
        name, first = heading
        is_numpy = first - at == 2
        is_end = _is_end if is_numpy else _is_outside
        at = next((at for at in range(first, len(lines)) if is_end(lines, at)), len(lines))
        if name in PARAMETERS:
            _read_parameters(lines[first:at], is_numpy, said)
        if at < len(lines) and not is_numpy:
            at = _read_on(lines, at, said)
    return said


def _is_outside(lines: list[str], at: int) -> bool:
    """Whether a line ends a section that is indented."""
    return bool(lines[at].strip()) and not lines[at].startswith((" ", "\t"))


def _read_on(lines: list[str], at: int, said: Documented) -> int:
    """Reads what stands below a section and belongs to none; gives the line after it."""
    end = next((end for end in range(at, len(lines)) if _is_end(lines, end)), len(lines))
    text = "\n".join(lines[at:end]).strip()
    # Such as a section in one line, `Returns: the sum`.
    if text and text.partition(":")[0].lower() not in SECTIONS:
        said.description = f"{said.description}\n\n{text}".strip()
    return end


def _is_end(lines: list[str], at: int) -> bool:
    return _heading(lines, at) is not None or (
        _FIELD.match(lines[at]) is not None and not lines[at].startswith(" ")
    )


def _heading(lines: list[str], at: int) -> tuple[str, int] | None:
    """The name of the section that begins at a line, and where its text begins."""
    line = lines[at]
    if line.startswith((" ", "\t")):
        return None
    word = line.strip().lower()
    if word.endswith(":") and word[:-1] in SECTIONS:
        return word[:-1], at + 1
    below = lines[at + 1].strip() if at + 1 < len(lines) else ""
    if word in SECTIONS and len(below) >= 3 and set(below) <= {"-", "="}:
        return word, at + 2
    return None


def _read_field(lines: list[str], at: int, said: Documented) -> int:
    """Reads ``:param int name: words``; gives the line after it."""
    match = _FIELD.match(lines[at])
    next_ = at + 1
    while next_ < len(lines) and (lines[next_].startswith((" ", "\t")) or not lines[next_].strip()):
        next_ += 1
    if match is None:
        return next_
    kind, names, first = match.groups()
    if kind in FIELDS and names.split():
        name = names.split()[-1].lstrip("*")
        said.parameters[name] = _joined([first, *lines[at + 1 : next_]])
    return next_


def _read_parameters(body: list[str], is_numpy: bool, said: Documented) -> None:
    """Reads entries, each with its further lines indented deeper."""
    written = [line for line in body if line.strip()]
    if not written:
        return
    indent = min(len(line) - len(line.lstrip()) for line in written)
    names: list[str] = []
    words: list[str] = []

    def keep() -> None:
        for name in names:
            if joined := _joined(words):
                said.parameters[name] = joined

    for line in written:
        is_entry = len(line) - len(line.lstrip()) == indent
        match = (_NUMPY if is_numpy else _GOOGLE).match(line.strip()) if is_entry else None
        if match is None:
            words.append(line)
            continue
        keep()
        names = [name.strip() for name in match.group(1).split(",")]
        words = [] if is_numpy else [match.group(2)]
    keep()


def _joined(lines: list[str]) -> str:
    return " ".join(line.strip() for line in lines if line.strip())
