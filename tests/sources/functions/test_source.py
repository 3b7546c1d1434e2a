import asyncio
import os
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pegboard.concurrency.thread_pool import POOL
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import FileReader, Source
from pegboard.errors import SourceUnavailable
from pegboard.registry import ToolRegistry
from pegboard.sources.functions import KIND
from pegboard.sources.functions.config import FunctionsConfig
from pegboard.testing import SourceContract

MODULE = '''
"""Tools."""

from functools import partial

from pegboard import BaseTool, tool


@tool(effect="read")
def greet(name: str) -> str:
    """Greet somebody."""
    return f"Hello {name}!"


class Till:
    """A till."""

    def __init__(self) -> None:
        self.total = 0

    @tool
    def book(self, amount: int) -> int:
        """Book an amount."""
        self.total += amount
        return self.total


class Shout(BaseTool):
    """A tool as a class."""

    name = "shout"
    description = "Say it loudly."
    parameters_schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }

    def run(self, text: str) -> str:
        """Say it."""
        return text.upper()


till = Till()
shout = Shout()
alias = greet


def plain(n: int) -> int:
    """Has no decorator."""
    return n


def _private(n: int) -> int:
    return n
'''

Files = Callable[..., str]


@pytest.fixture
def module(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """A module with a name of its own, since modules are kept by name."""
    name = f"functions_{abs(hash(request.node.nodeid)) % 10**9}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    return name


async def _open(folder: Path, **config: Any) -> Source:
    services = Services(base_dir=folder)
    return await KIND.open("my", FunctionsConfig.model_validate(config), services)


async def _names(source: Source) -> list[str]:
    return [tool.spec.name for tool in await source.tools()]


class TestFunctionsContract(SourceContract):
    kind = KIND

    @pytest.fixture(autouse=True)
    def _prepare(self, tmp_path: Path, module: str) -> None:
        self.folder, self.module = tmp_path, module

    async def open_source(self) -> Source:
        return await _open(self.folder, modules=[self.module])


async def test_decorated_functions_and_tool_objects_are_taken_once(
    tmp_path: Path, module: str
) -> None:
    assert await _names(await _open(tmp_path, modules=[module])) == ["my__greet", "my__shout"]


async def test_plain_functions_are_taken_when_asked_for(tmp_path: Path, module: str) -> None:
    names = await _names(await _open(tmp_path, modules=[module], undecorated=True))

    assert "my__plain" in names
    assert not any("private" in name or "partial" in name for name in names)


async def test_the_files_to_watch_are_those_of_its_modules(tmp_path: Path, module: str) -> None:
    source = await _open(tmp_path, modules=[module, "not_there"], files=["loose.py"])
    assert isinstance(source, FileReader)
    before = source.files()
    with pytest.raises(SourceUnavailable):
        await source.tools()

    names = ["not_there.py", "not_there/__init__.py", "loose.py"]
    assert before[-3:] == [tmp_path / name for name in names]
    assert source.files()[0] == tmp_path / f"{module}.py"


async def test_a_file_is_run_without_being_on_the_path(tmp_path: Path) -> None:
    (tmp_path / "loose-file.py").write_text(MODULE)

    assert "my__greet" in await _names(await _open(tmp_path, files=["loose-file.py"]))


async def test_an_object_is_found_by_its_path(tmp_path: Path, module: str) -> None:
    source = await _open(tmp_path, objects=[f"{module}:till.book", f"{module}:plain"])
    registry = ToolRegistry(await source.tools())

    assert registry.names() == ("my__book", "my__plain")
    assert (await registry.call("my__book", {"amount": 5})).unwrap() == 5
    assert (await registry.call("my__book", {"amount": "6"})).unwrap() == 11


@pytest.mark.parametrize(
    ("config", "says"),
    [
        pytest.param({}, "names no modules, files or objects", id="nothing"),
        pytest.param({"modules": ["no_such_module_x"]}, "no module 'no_such_module_x'", id="gone"),
        pytest.param({"files": ["gone.py"]}, "there is no file 'gone.py'", id="no file"),
        pytest.param({"files": ["data.txt"]}, "is not a Python file", id="not Python"),
        pytest.param(
            {"files": ["broken.py"]}, "failed to import (SyntaxError in line 1)", id="syntax"
        ),
        pytest.param({"files": ["exits.py"]}, "failed to import (SystemExit)", id="exits"),
        pytest.param({"files": ["needs.py"]}, "'pip install no_such_m', or put it", id="needs"),
        pytest.param({"files": ["empty.py"]}, "has no tools: decorate", id="no tools"),
        pytest.param({"files": ["bad.py"]}, "parameter 'x' needs a type hint", id="signature"),
        pytest.param({"objects": ["json"]}, "should be written 'package.module:name'", id="ref"),
        pytest.param({"objects": ["json:nothing"]}, "'json' has no 'nothing'", id="no object"),
        pytest.param({"objects": ["json:__version__"]}, "is not a tool", id="not a tool"),
        pytest.param({"objects": ["needs:x"]}, "needs the module 'no_such_m'", id="inner import"),
    ],
)
async def test_what_cannot_be_listed_says_why(
    config: dict[str, Any], says: str, tmp_path: Path
) -> None:
    for name, text in {
        "data.txt": "",
        "broken.py": "def",
        "exits.py": "import sys\nsys.exit(3)\n",
        "needs.py": "import no_such_m\n",
        "empty.py": "x = 1\n",
        "bad.py": "from pegboard import tool\n@tool\ndef f(x): ...\n",
    }.items():
        (tmp_path / name).write_text(text)
    source = await _open(tmp_path, **config)

    with pytest.raises(SourceUnavailable) as raised:
        await source.tools()

    assert says in str(raised.value)


async def test_what_a_module_raises_is_the_operator_s_alone(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "leaks.py").write_text("raise RuntimeError('password=hunter2')\n")
    source = await _open(tmp_path, files=["leaks.py"])

    with pytest.raises(SourceUnavailable) as raised:
        await source.tools()

    assert "hunter2" not in str(raised.value)
    assert "hunter2" in caplog.text


async def test_a_changed_module_is_run_again_when_listed_again(tmp_path: Path, module: str) -> None:
    source = await _open(tmp_path, modules=[module])
    before = await _names(source)
    path = tmp_path / f"{module}.py"
    path.write_text(MODULE.replace("def greet", "def welcome").replace("= greet", "= welcome"))

    assert "my__greet" in before
    assert "my__welcome" in await _names(source)


async def test_two_boards_have_modules_of_one_name_each_its_own(
    tmp_path: Path, module: str
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    (other / f"{module}.py").write_text(
        MODULE.replace("def greet", "def welcome").replace("= greet", "= welcome")
    )

    first = await _names(await _open(tmp_path, modules=[module]))
    second = await _names(await _open(other, modules=[module]))
    again = await _names(await _open(tmp_path, modules=[module]))

    assert "my__greet" in first
    assert "my__welcome" in second
    assert again == first


async def test_it_is_always_well_and_closes_twice(tmp_path: Path) -> None:
    source = await _open(tmp_path, modules=["x"])
    source.on_change(lambda: None)
    await source.close()
    await source.close()

    assert (await source.health()).status == "healthy"


COUNTING = '''
from pathlib import Path

from pegboard import tool

with Path(__file__).with_suffix(".runs").open("a") as log:
    log.write("x")


@tool
def NAME() -> str:
    """Say something."""
    return "something"
'''


async def test_an_unchanged_file_is_run_once_and_a_changed_one_again(tmp_path: Path) -> None:
    path, runs = tmp_path / "loose.py", tmp_path / "loose.runs"
    path.write_text(COUNTING.replace("NAME", "first"))
    source = await _open(tmp_path, files=["loose.py"])

    assert await _names(source) == await _names(source) == ["my__first"]
    assert runs.read_text() == "x"

    path.write_text(COUNTING.replace("NAME", "second"))
    os.utime(path, (1, 1))
    assert await _names(source) == ["my__second"]
    assert runs.read_text() == "xx"


async def test_a_file_that_failed_is_run_again_though_unchanged(tmp_path: Path) -> None:
    path, needed = tmp_path / "loose.py", tmp_path / "needed.txt"
    path.write_text(f"open({str(needed)!r}).close()\n" + COUNTING.replace("NAME", "late"))
    source = await _open(tmp_path, files=["loose.py"])
    with pytest.raises(SourceUnavailable, match="FileNotFoundError"):
        await source.tools()
    needed.touch()

    assert await _names(source) == ["my__late"]


async def test_two_files_of_one_name_are_two_modules(tmp_path: Path) -> None:
    for folder in ("one", "two"):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "same.py").write_text(COUNTING.replace("NAME", folder))
    source = await _open(tmp_path, files=["one/same.py", "two/same.py"])

    assert await _names(source) == ["my__one", "my__two"]
    modules = [name for name in sys.modules if name.startswith("pegboard_file_same_")]
    paths = {Path(str(sys.modules[name].__file__)) for name in modules}
    assert {tmp_path / "one" / "same.py", tmp_path / "two" / "same.py"} <= paths


async def test_files_that_hang_leave_threads_to_other_sources(tmp_path: Path) -> None:
    gate = tmp_path / "gate"
    (tmp_path / "slow.py").write_text(
        "import pathlib, time\n"
        f"while not pathlib.Path({str(gate)!r}).exists():\n    time.sleep(0.01)\n"
        + COUNTING.replace("NAME", "slow")
    )
    (tmp_path / "quick.py").write_text(COUNTING.replace("NAME", "quick"))
    slow = await _open(tmp_path, files=["slow.py"])
    quick = FunctionsConfig.model_validate({"files": ["quick.py"]})
    other = await KIND.open("other", quick, Services(base_dir=tmp_path))
    hanging = [asyncio.create_task(_names(slow)) for _ in range(POOL.size)]
    try:
        await asyncio.sleep(0)
        assert await asyncio.wait_for(_names(other), 40) == ["other__quick"]
    finally:
        gate.touch()
        await asyncio.gather(*hanging)
