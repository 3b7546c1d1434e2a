import importlib.util
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source
from pegboard.core.tool import Effect
from pegboard.errors import PegboardError, SourceUnavailable
from pegboard.registry import ToolRegistry
from pegboard.sources.langchain import KIND
from pegboard.sources.langchain.config import LangChainConfig
from pegboard.testing import SourceContract


@pytest.fixture(autouse=True)
def modules_and_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Importing from a board's folder changes both; each test leaves them as they were."""
    monkeypatch.setattr(sys, "path", list(sys.path))


async def opened(folder: Path, *objects: str, **config: Any) -> Source:
    given = LangChainConfig.model_validate({"objects": objects, **config})
    return await KIND.open("lc", given, Services(base_dir=folder))


class TestLangChainSource(SourceContract):
    kind = KIND
    least_tools = 2

    @pytest.fixture(autouse=True)
    def place(self, tmp_path: Path, module: str) -> None:
        self.folder, self.module = tmp_path, module

    async def open_source(self) -> Source:
        return await opened(self.folder, f"{self.module}:both")


@pytest.mark.parametrize(
    ("name", "actions"),
    [
        ("add", ["add"]),
        ("both", ["add", "shout"]),
        ("kit", ["add", "shout"]),
        ("Kit", ["add", "shout"]),
        ("make", ["add"]),
    ],
)
async def test_a_tool_a_list_a_toolkit_and_a_maker_are_taken(
    tmp_path: Path, module: str, name: str, actions: list[str]
) -> None:
    source = await opened(tmp_path, f"{module}:{name}")

    assert [tool.spec.action for tool in await source.tools()] == actions


async def test_its_tools_are_called(tmp_path: Path, module: str) -> None:
    registry = ToolRegistry(await (await opened(tmp_path, f"{module}:both")).tools())

    assert (await registry.call("lc__add", {"a": "3"})).unwrap() == 5
    assert (await registry.call("lc__shout", {"text": "hey"})).unwrap() == "HEY"


async def test_the_operator_says_what_tools_do_to_the_world(tmp_path: Path, module: str) -> None:
    source = await opened(tmp_path, f"{module}:both", effects={"add": "read"})

    assert {tool.spec.action: tool.spec.effect for tool in await source.tools()} == {
        "add": Effect.READ,
        "shout": Effect.WRITE,
    }


@pytest.mark.parametrize(
    ("name", "config", "reason"),
    [
        ("number", {}, "a builtins.int is not a LangChain tool"),
        ("empty", {}, "is an empty list of tools"),
        ("gone", {}, "has no 'gone'"),
        ("make_later", {}, "is async: give a function that returns the tools"),
        ("fail", {}, r"failed to make its tools (RuntimeError); the log says why"),
        ("broken", {}, r"failed to make its tools (RuntimeError); the log says why"),
        ("needy", {}, "needs the module 'no_such_m', which is not there: 'pip install no_such_m'"),
        ("add", {"effects": {"ad": "read"}}, "'effects' names 'ad', and there is no such tool"),
    ],
)
async def test_what_cannot_be_listed_says_why(
    tmp_path: Path, module: str, name: str, config: Any, reason: str
) -> None:
    source = await opened(tmp_path, f"{module}:{name}", **config)

    with pytest.raises(PegboardError) as caught:
        await source.tools()

    assert reason in str(caught.value)
    assert "hunter2" not in str(caught.value)


async def test_an_error_of_ours_passes_as_it_is(tmp_path: Path) -> None:
    (tmp_path / "lc_says_no.py").write_text(
        "from pegboard import Unavailable\ndef make():\n    raise Unavailable('later')\n"
    )

    with pytest.raises(PegboardError, match=r"^later$"):
        await (await opened(tmp_path, "lc_says_no:make")).tools()


async def test_without_langchain_one_line_says_what_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda _name: None)

    with pytest.raises(SourceUnavailable, match=r"pip install 'pegboard\[langchain\]'"):
        await opened(tmp_path, "x:y")


async def test_the_same_tool_in_two_sources_is_one_target(tmp_path: Path, module: str) -> None:
    one, other = [await opened(tmp_path, f"{module}:{name}") for name in ("add", "both")]

    targets = [tool.spec.target for tool in (*await one.tools(), *await other.tools())]

    assert targets[0] == targets[1] != targets[2]
