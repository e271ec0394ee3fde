"""What does the import of the toolboxes need, and what does it say where that is missing?"""

from __future__ import annotations

import pytest
from toolboxes import Run

#: Makes the import of a package fail, as where it is not installed.
WITHOUT = """
import sys

class Nothing:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] == "{package}":
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)

sys.meta_path.insert(0, Nothing())
"""


@pytest.mark.parametrize("package", ["ovos_plugin_manager", "pydantic", "ovos_utils"])
def test_where_something_is_missing_the_import_says_what_to_install(
    package: str, run_script: Run
) -> None:
    code = WITHOUT.format(package=package) + (
        "import toolspan\n"
        "print(toolspan.connect)\n"
        "try:\n"
        "    import toolspan.ovos\n"
        "except ImportError as error:\n"
        "    print(error)\n"
    )
    ended = run_script(code)
    first, said = ended.stdout.splitlines()
    assert "connect" in first
    assert "pip install toolspan[ovos]" in said and package in said
    assert ended.code == 0, ended.stderr


def test_the_package_itself_imports_nothing_of_ovos(run_script: Run) -> None:
    ended = run_script(
        "import sys, toolspan\n"
        "print(sorted({name.split('.')[0] for name in sys.modules}"
        " & {'pydantic', 'ovos_plugin_manager', 'ovos_utils', 'ovos_bus_client', 'asyncio'}))\n"
    )
    assert (ended.stdout, ended.stderr) == ("[]\n", "")


def test_what_is_public_is_what_is_listed(run_script: Run) -> None:
    ended = run_script(
        "import warnings\n"
        "warnings.simplefilter('ignore')\n"
        "import toolspan.ovos\n"
        "print(*(name for name in vars(toolspan.ovos) if not name.startswith('_')))\n"
        "print(*toolspan.ovos.__all__)\n"
    )
    public, listed = ended.stdout.splitlines()
    assert sorted(public.split()) == sorted(listed.split())
    assert listed.split() == ["AdapterToolOutput", "MCPToolBox", "ToolspanToolBox"]
