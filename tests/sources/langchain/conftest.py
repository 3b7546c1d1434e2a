from pathlib import Path

import pytest

MODULE = '''
from typing import Annotated, Any

from langchain_core.tools import BaseTool, BaseToolkit, InjectedToolArg, tool


@tool
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


@tool
async def shout(text: str) -> str:
    """Say it loudly."""
    return text.upper()


class Kit(BaseToolkit):
    def get_tools(self) -> list[BaseTool]:
        return [add, shout]


class Broken(BaseToolkit):
    def get_tools(self) -> list[BaseTool]:
        raise RuntimeError("password is hunter2")


both = [add, shout]
kit = Kit()
broken = Broken()
empty = []
number = 3


def make() -> list[BaseTool]:
    return [add]


async def make_later() -> list[BaseTool]:
    return [add]


def needy() -> list[BaseTool]:
    import no_such_m


def fail() -> list[BaseTool]:
    raise RuntimeError("password is hunter2")
'''


@pytest.fixture
def module(tmp_path: Path, request: pytest.FixtureRequest) -> str:
    """The name of a module in the board's folder, one for each test."""
    digest = abs(hash(request.node.nodeid))
    name = f"lc_tools_{digest}"
    (tmp_path / f"{name}.py").write_text(MODULE)
    return name
