import sys
from pathlib import Path

import pytest

from pegboard import ToolRegistry, ToolResult
from pegboard.core.ports.services import Services
from pegboard.sources.builtin import discovery, source, tools

DROPPED = """
from abc import abstractmethod
from pegboard import BaseTool, tool
from pegboard.sources.builtin.tools.echo import echo  # of another file

class Half(BaseTool):
    @abstractmethod
    def run(self, **arguments): ...

class Shout(BaseTool):
    name = "shout"
    description = "Say it loudly."
    category = "general"
    effect = "read"
    parameters_schema = {"type": "object", "properties": {"text": {"type": "string"}}}

    def run(self, text):
        return text.upper()

@tool(effect="read")
def whisper(text: str) -> str:
    "Say it softly."
    return text.lower()
"""


async def test_a_file_in_the_folder_is_found_with_its_functions_and_classes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "dropped_here.py").write_text(DROPPED)
    monkeypatch.setattr(tools, "__path__", [str(tmp_path)])
    found = discovery.discover_builtin_tools.__wrapped__()
    monkeypatch.setattr(source, "discover_builtin_tools", lambda: found)
    registry = ToolRegistry(source.bind_tools(Services()))
    sys.modules.pop(f"{tools.__name__}.dropped_here")

    results = [await registry.call(name, {"text": "Hi"}) for name in ("shout", "whisper")]

    assert [item.spec.name for item in found] == ["shout", "whisper"]
    assert [ToolResult.unwrap(result) for result in results] == ["HI", "hi"]
