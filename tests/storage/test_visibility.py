"""Rows that belong to people are read by queries that apply visibility, and by no others."""

import ast
from pathlib import Path

import pegboard.storage
from pegboard.core.principal import LOCAL, Principal
from pegboard.storage.sql.accounts.visibility import where_visible

ROOM = Path(pegboard.storage.__file__).parent
OWNED = {"RESOURCES", "SUBSCRIPTIONS", "RESOURCE_DEFINITIONS"}
ALLOWED = {"sql/accounts/resources.py", "sql/accounts/visibility.py", "tables.py"}


def test_only_the_store_of_resources_queries_their_tables() -> None:
    found = {
        str(path.relative_to(ROOM))
        for path in ROOM.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Name | ast.alias | ast.Attribute) and (_name_of(node) in OWNED)
    }
    assert found == ALLOWED


def test_the_store_lists_what_is_visible_by_the_one_predicate() -> None:
    tree = ast.parse((ROOM / "sql/accounts/resources.py").read_text())
    methods = {
        node.name: ast.unparse(node)
        for node in ast.walk(tree)
        if isinstance(node, ast.AsyncFunctionDef)
    }
    takes_principal = {name for name, text in methods.items() if "principal: Principal" in text}
    assert takes_principal == {name for name, text in methods.items() if "where_visible(" in text}
    assert takes_principal == {"list_visible"}


def test_a_caller_without_an_account_is_not_restricted() -> None:
    assert str(where_visible(LOCAL)) == "true"
    assert "owner" in str(where_visible(Principal(id="u1", user="u1")))


def _name_of(node: ast.Name | ast.alias | ast.Attribute) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else node.name
