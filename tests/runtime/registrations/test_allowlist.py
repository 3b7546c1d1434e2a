from pathlib import Path

import pytest

from pegboard.runtime.board_file.models import CatalogueEntry, ToolEntry
from pegboard.runtime.registrations.allowlist import RegistrationAllowlist

ALLOWED = CatalogueEntry(imports=("shop.tools:*",), scripts=("scripts",))


def an_entry(type_: str, **said: str) -> ToolEntry:
    return ToolEntry.model_validate({"tool_id": "x_v1", "type": type_, **said})


@pytest.mark.parametrize(
    ("entry", "is_allowed"),
    [
        (an_entry("PythonFunction", **{"import": "shop.tools:price"}), True),
        (an_entry("LangChainTool", **{"import": "shop.tools:price"}), True),
        (an_entry("PythonFunction", **{"import": "shop.toolset:price"}), False),
        (an_entry("PythonFunction", **{"import": "os:system"}), False),
        (an_entry("LocalScript", script_path="scripts/a.py"), True),
        (an_entry("LocalScript", script_path="scripts/../b.py"), False),
        (an_entry("LocalScript", script_path="/etc/passwd"), False),
        (an_entry("LocalScript", script_path="link/c.py"), False),
        (an_entry("LocalScript", script_path="a\0b"), False),
        (an_entry("RestAPI", url="https://example.com"), True),
        (an_entry("PythonFunction"), True),
    ],
    ids=lambda value: str(value)[:60],
)
def test_only_what_the_operator_names_may_run(
    tmp_path: Path, entry: ToolEntry, is_allowed: bool
) -> None:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "link").symlink_to("/usr")

    assert (RegistrationAllowlist(ALLOWED, tmp_path).find_refusal(entry) == "") is is_allowed


def test_by_default_nothing_is_allowed(tmp_path: Path) -> None:
    reason = RegistrationAllowlist(CatalogueEntry(), tmp_path).find_refusal(
        an_entry("PythonFunction", **{"import": "shop:f"})
    )

    assert "catalogue: {imports: [...]}" in reason
