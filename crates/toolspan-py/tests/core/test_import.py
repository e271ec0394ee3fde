"""What does ``import toolspan`` cost, and where does it work?"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import toolspan

ROOT = str(Path(toolspan.__file__).parent.parent)

#: What an import of the package must not bring along; OPM and pydantic come with an extra.
NOT_IMPORTED = {
    "asyncio",
    "dataclasses",
    "inspect",
    "logging",
    "ovos_plugin_manager",
    "ovos_utils",
    "pydantic",
    "threading",
    "typing",
}


def python(code: str, *options: str) -> str:
    """Runs code in an interpreter that knows nothing but its own library and the package."""
    begin = f"import sys; sys.path.insert(0, {ROOT!r})\n"
    command = [sys.executable, "-I", "-S", *options, "-c", begin + code]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_an_import_brings_only_the_package_along() -> None:
    code = """
before = set(sys.modules)
import toolspan
print(*sorted(set(sys.modules) - before))
"""
    new = python(code).split()
    assert "toolspan._toolspan" in new
    assert NOT_IMPORTED.isdisjoint(new)
    others = {name for name in new if name.partition(".")[0] != "toolspan"}
    # Some lines of Python, and a part of the interpreter itself.
    assert others <= {"__future__", "atexit"}


def test_an_import_starts_no_thread_and_no_process() -> None:
    code = """
import os, toolspan
print(len(os.listdir("/proc/self/task")))
"""
    assert python(code) == "1\n"


def test_it_is_used_without_site_packages_and_environment() -> None:
    server = str(Path(__file__).parent.parent / "servers" / "plain.py")
    config = {"mcpServers": {"plain": {"command": sys.executable, "args": ["-I", "-S", server]}}}
    code = f"""
import toolspan
with toolspan.connect({config!r}) as host:
    print(host.call("plain__echo", text="a").text)
"""
    assert python(code, "-X", "dev", "-W", "error") == "a\n"


def test_a_second_import_gives_the_same_classes() -> None:
    code = """
import importlib, toolspan
host, error = toolspan.Host, toolspan.ToolNotFound
assert importlib.import_module("toolspan") is toolspan
again = importlib.reload(toolspan)
assert (again.Host, again.ToolNotFound) == (host, error)
for name in [name for name in sys.modules if name.partition(".")[0] == "toolspan"]:
    del sys.modules[name]
import toolspan
assert toolspan.Host is host
with toolspan.connect({"mcpServers": {}}) as empty:
    try:
        empty.call("missing")
    except toolspan.ToolNotFound:
        print("refused")
"""
    assert python(code, "-X", "dev", "-W", "error") == "refused\n"


def test_every_exported_name_is_there() -> None:
    for name in toolspan.__all__:
        assert getattr(toolspan, name) is not None
    assert sorted(toolspan.__all__) == toolspan.__all__


SUBINTERPRETER = """
import json
try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters
first = FIRST
if first:
    import toolspan
number = interpreters.create()
code = '''
import sys
sys.path.insert(0, ROOT)
try:
    import toolspan
except ImportError as error:
    refusal = str(error)
else:
    refusal = None
import os
os.write(1, repr(refusal).encode() + b"\\\\n")
'''.replace("ROOT", repr(sys.path[0]))
interpreters.run_string(number, code)
interpreters.destroy(number)
import toolspan
print(toolspan.__version__)
"""


def test_a_sub_interpreter_is_refused_and_the_main_one_works() -> None:
    for first in (True, False):
        lines = python(SUBINTERPRETER.replace("FIRST", repr(first))).splitlines()
        assert "interpreter" in lines[0].lower(), json.dumps(lines)
        assert lines[1] == toolspan.__version__
