"""Does it work in a notebook, whose kernel runs a loop all the time?

``notebook.py FOLDER WHAT`` runs cells in a real kernel and looks at what they print.
"""

import sys
import threading
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

import nbformat
from jupyter_client.manager import KernelManager
from kit.processes import marked
from kit.stage import LIMIT, Stage
from nbclient import NotebookClient

STAGE = Stage(sys.argv[1])


class Notebook:
    """A kernel, and cells that are run in it one after the other."""

    def __init__(self):
        self.notebook = nbformat.v4.new_notebook()
        self.manager = KernelManager()
        # The interpreter of the tests, whatever else is installed on the machine.
        self.manager.kernel_spec.argv = [
            *(sys.executable, "-W", "error::RuntimeWarning"),
            *("-m", "ipykernel_launcher", "-f", "{connection_file}"),
        ]
        self.client = NotebookClient(
            self.notebook, km=self.manager, allow_errors=True, timeout=LIMIT
        )

    def __enter__(self):
        self.client.start_new_kernel(cwd=sys.argv[1])
        self.client.start_new_kernel_client()
        return self

    def __exit__(self, *_):
        self.client._cleanup_kernel()

    def outputs(self, code):
        cell = nbformat.v4.new_code_cell(code)
        self.notebook.cells.append(cell)
        self.client.execute_cell(cell, len(self.notebook.cells) - 1)
        return cell.outputs

    def run(self, code):
        """What a cell prints; an error or a warning of it is an output of another kind."""
        outputs = self.outputs(code)
        assert {each.get("name") for each in outputs} <= {"stdout"}, outputs
        return "".join(each["text"] for each in outputs)

    def connect(self, *options):
        config = STAGE.config(*options)
        assert self.run(f"import toolspan\nhost = toolspan.connect({config!r})") == ""


SYNCHRONOUS = """
print(host.call("stage__echo", text="a").text)
"""
ASYNCHRONOUS = """
print((await host.acall("stage__echo", text="b")).text)
"""
BOTH = """
import asyncio
answers = await asyncio.gather(*(host.acall("stage__echo", text=str(n)) for n in range(8)))
print(*(answer.text for answer in answers), host.call("stage__echo", text="c").text)
"""
PROGRESS = """
heard = []
reporting = host.with_options(on_progress=lambda progress: heard.append(progress.progress))
reporting.call("stage__echo", progress=2)
print(heard[-1])
await reporting.acall("stage__echo", progress=3)
print(heard[-1])
"""
BLOCK = f"""
async with toolspan.aconnect({STAGE.config()!r}) as another:
    print(another.call("stage__echo", text="d").text)
print(another.closed)
"""
HOLD = """
host.call("stage__hold")
"""
# The reports wake the loop of the kernel, which an interrupt alone does not do.
ASYNCHRONOUS_HOLD = """
reporting = host.with_options(on_progress=lambda progress: None)
await reporting.acall("stage__hold", progress=1000, every=0.02)
"""


def cells():
    """And nobody is told about the loop, which nobody there chose."""
    with Notebook() as notebook:
        notebook.connect()
        for _ in range(2):
            assert notebook.run(SYNCHRONOUS) == "a\n"
            assert notebook.run(ASYNCHRONOUS) == "b\n"
        assert notebook.run(BOTH) == "0 1 2 3 4 5 6 7 c\n"
        assert notebook.run(PROGRESS) == "2.0\n3.0\n"
        assert notebook.run(BLOCK) == "d\nTrue\n"


def interrupted():
    """The next cell works."""
    with Notebook() as notebook:
        notebook.connect()
        for code, name in [(HOLD, "KeyboardInterrupt"), (ASYNCHRONOUS_HOLD, "CancelledError")] * 2:

            def interrupt():
                STAGE.until("call", tool="hold")
                notebook.manager.interrupt_kernel()

            thread = threading.Thread(target=interrupt)
            thread.start()
            (output,) = notebook.outputs(code)
            thread.join(LIMIT)
            assert output["ename"] == name, output
            STAGE.until("cancelled", tool="hold")
            assert notebook.run(SYNCHRONOUS) == "a\n"


def shut_down():
    """Nothing is left of a kernel with an open host."""
    with Notebook() as notebook:
        notebook.connect("grandchild")
        STAGE.until("grandchild")
        assert len(marked(STAGE.mark)) == 2
    STAGE.assert_empty()


def restarted():
    """A kernel that is killed in a call leaves nothing, and the next one works."""
    with Notebook() as notebook:
        notebook.connect("stubborn", "grandchild")
        client = notebook.client.kc
        client.execute(HOLD)
        STAGE.until("call", tool="hold")
        notebook.manager.restart_kernel(now=True)
        STAGE.assert_empty()
    with Notebook() as notebook:
        notebook.connect()
        assert notebook.run(SYNCHRONOUS) == "a\n"


globals()[sys.argv[2]]()
