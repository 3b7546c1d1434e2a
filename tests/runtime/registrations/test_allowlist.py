import sys
from pathlib import Path

import pytest
from pydantic import ValidationError

from pegboard.runtime.board_file.models import CatalogueEntry, ToolEntry
from pegboard.runtime.registrations.allowlist import RegistrationAllowlist

ALLOWED = CatalogueEntry(
    imports=("allowed_one:*", "allowed_two:*", "os:getpid", "allowed_pa*:a"),
    scripts=("scripts",),
    databases=("sqlite:///shop.db", "postgresql://reader:pw@db.corp/sales"),
)
MODULE = """
import os
from functools import wraps, partial
from os import abort
from langchain_core.tools import BaseTool as Kind, tool as langchain_tool

stop = os.abort
later = partial(os.abort)
called = []

def price() -> int:
    called.append("price")
    return 3

@wraps(price)
def wrapped() -> int:
    called.append("wrapped")

class Till:
    def total(self) -> int: ...

till = Till()
_secret = till

@langchain_tool
def add(a: int) -> int:
    "Add."
    return a
"""


@pytest.fixture
def base_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(sys, "path", list(sys.path))
    for name in ("allowed_one", "allowed_two"):
        monkeypatch.delitem(sys.modules, name, raising=False)
    (tmp_path / "allowed_one.py").write_text(MODULE)
    (tmp_path / "allowed_two.py").write_text("from os import getpid, abort\n__all__ = ['getpid']\n")
    (tmp_path / "scripts").mkdir()
    (tmp_path / "link").symlink_to("/usr")
    return tmp_path


def an_entry(type_: str, **said: str) -> ToolEntry:
    return ToolEntry.model_validate({"tool_id": "x_v1", "type": type_, **said})


@pytest.mark.parametrize(
    ("entry", "is_allowed"),
    [
        (an_entry("PythonFunction", **{"import": "allowed_one:price"}), True),
        (an_entry("PythonFunction", **{"import": "allowed_one:wrapped"}), True),
        (an_entry("PythonFunction", **{"import": "allowed_one:till"}), True),
        (an_entry("PythonFunction", **{"import": "allowed_one:add"}), True),
        (an_entry("PythonFunction", **{"import": "allowed_two:getpid"}), True),
        (an_entry("PythonFunction", **{"import": "os:getpid"}), True),
        (an_entry("PythonFunction", **{"import": "allowed_one:os.abort"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_one:os"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_one:abort"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_one:stop"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_one:partial"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_one:_secret"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_one:till.total"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_one:__builtins__"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_two:abort"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_one.sub:price"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_one:price:price"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_one:nothing"}), False),
        (an_entry("PythonFunction", **{"import": "allowed_package.sub:a"}), False),
        (an_entry("PythonFunction", **{"import": "os:system"}), False),
        (an_entry("LangChainTool", **{"import": "allowed_one:add"}), True),
        (an_entry("LangChainTool", **{"import": "os:getpid"}), True),
        (an_entry("LangChainTool", **{"import": "allowed_one:price"}), False),
        (an_entry("LangChainTool", **{"import": "allowed_one:till"}), False),
        (an_entry("LangChainTool", **{"import": "allowed_one:abort"}), False),
        (an_entry("LocalScript", script_path="scripts/a.py"), True),
        (an_entry("LocalScript", script_path="scripts/../b.py"), False),
        (an_entry("LocalScript", script_path="/etc/passwd"), False),
        (an_entry("LocalScript", script_path="link/c.py"), False),
        (an_entry("LocalScript", script_path="a\0b"), False),
        (an_entry("RestAPI", url="https://example.com"), True),
        (an_entry("Database", url="sqlite:///shop.db"), True),
        (an_entry("Database", url="sqlite:///shop.db", tool="execute"), False),
        (an_entry("Database", url="sqlite:///other.db"), False),
        (an_entry("Database", url="postgresql://reader@db.corp/sales"), True),
        (an_entry("Database", url="postgresql://reader:other@db.corp/sales"), True),
        (an_entry("Database", url="postgresql://admin@db.corp/sales"), False),
        (an_entry("Database", url="postgresql://reader@db.corp/sales?passfile=/x"), False),
        (an_entry("Database", url="postgresql://reader:x@evil/y@db.corp/sales"), False),
        (an_entry("PythonFunction"), True),
    ],
    ids=lambda value: (
        f"{value.type} {value.import_ or value.script_path or value.url!r}"
        if isinstance(value, ToolEntry)
        else str(value)
    ),
)
async def test_only_what_the_operator_names_may_run(
    base_dir: Path, entry: ToolEntry, is_allowed: bool
) -> None:
    reason = await RegistrationAllowlist(ALLOWED, base_dir).find_refusal(entry)

    assert (reason == "") is is_allowed
    if "allowed_one" in sys.modules:
        assert sys.modules["allowed_one"].called == []


async def test_by_default_nothing_is_allowed(tmp_path: Path) -> None:
    reason = await RegistrationAllowlist(CatalogueEntry(), tmp_path).find_refusal(
        an_entry("PythonFunction", **{"import": "shop:f"})
    )

    assert "catalogue: {imports: [...]}" in reason


def test_a_pattern_of_imports_names_a_module_and_an_object() -> None:
    with pytest.raises(ValidationError, match="imports"):
        CatalogueEntry(imports=("shop_tools",))


async def test_the_refusal_of_a_database_says_what_allows_it_without_its_password(
    tmp_path: Path,
) -> None:
    entry = an_entry("Database", url="postgresql://reader:s3cret@db.corp/sales?password=s3cret")

    reason = await RegistrationAllowlist(CatalogueEntry(), tmp_path).find_refusal(entry)

    assert "'postgresql://reader@db.corp/sales?password=[redacted]' is not allowed" in reason
    assert "catalogue: {databases: [...]}" in reason
