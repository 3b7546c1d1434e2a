"""The reference lists everything that a user can meet, whatever wrote it."""

import inspect
import re
from collections.abc import Iterator
from typing import Any

from tests.shape import tree
from typer.main import get_command

import pegboard
from pegboard import errors
from pegboard.cli.app import app
from pegboard.runtime import Pegboard
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.plugins import list_kinds, load_kind
from pegboard.runtime.settings import PREFIX, Settings
from pegboard.servers.http import create_app
from pegboard.servers.http.problem_details import STATUSES
from pegboard.sources.builtin import discover_builtin_tools

REFERENCE = tree.ROOT / "docs" / "reference"


def test_every_error_code_is_listed() -> None:
    codes = [
        kind.code
        for _, kind in inspect.getmembers(errors, inspect.isclass)
        if issubclass(kind, errors.PegboardError)
    ]

    assert _missing("errors.md", codes) == []


def test_every_public_name_is_described() -> None:
    text = (REFERENCE / "api.md").read_text(encoding="utf-8")
    headings = set(re.findall(r"^## (\w+)$", text, re.MULTILINE))
    linked = set(re.findall(r"`(\w+)`", text.partition("are [described here]")[0]))

    assert set(pegboard.__all__) - headings - linked == set()


def test_every_setting_is_listed() -> None:
    settings = [f"{PREFIX}{name.upper()}" for name in Settings.model_fields]

    assert _missing("settings.md", settings) == []


def test_every_key_of_a_board_is_listed() -> None:
    schema = Board.model_json_schema()
    models = [schema, *schema["$defs"].values()]

    assert _missing("board.md", [key for model in models for key in model["properties"]]) == []


def test_every_command_and_each_of_its_options_is_listed() -> None:
    commands = dict(_below(get_command(app)))
    text = (REFERENCE / "cli.md").read_text(encoding="utf-8")
    parts = text.split("\n## `pegboard ")[1:]
    sections = {part.partition("`")[0]: part for part in parts}

    assert sections.keys() == commands.keys()
    assert [
        f"{name} {option}"
        for name, command in commands.items()
        for parameter in command.params
        for option in parameter.opts
        if not parameter.hidden and option not in sections[name]
    ] == []


def _below(command: Any, name: str = "") -> Iterator[tuple[str, Any]]:
    """All commands of a command, with their names from there."""
    for part, inner in getattr(command, "commands", {}).items():
        yield f"{name} {part}".strip(), inner
        yield from _below(inner, f"{name} {part}".strip())


def test_every_built_in_tool_is_listed() -> None:
    text = (REFERENCE / "builtin.md").read_text(encoding="utf-8")
    listed = re.findall(r"^### (\w+)$", text, re.MULTILINE)

    assert sorted(listed) == [tool.spec.name for tool in discover_builtin_tools()]


def test_every_kind_of_source_and_each_of_its_keys_is_listed() -> None:
    text = (REFERENCE / "sources.md").read_text(encoding="utf-8")
    sections = {part.partition("\n")[0]: part for part in text.split("\n## ")[1:]}

    assert sections.keys() == list_kinds().keys()
    assert [
        key
        for name, section in sections.items()
        for key in load_kind(name).config.model_json_schema()["properties"]
        if f"`{key}`" not in section
    ] == []


def test_every_route_and_each_of_its_parameters_is_listed() -> None:
    text = (REFERENCE / "http.md").read_text(encoding="utf-8")
    sections = {part.partition("`")[0]: part for part in text.split("\n## `")[1:]}
    routes = {
        f"{method.upper()} {path}": operation
        for path, operations in create_app(Pegboard()).openapi()["paths"].items()
        for method, operation in operations.items()
    }

    assert sections.keys() == routes.keys()
    assert [
        f"{name} {parameter['name']}"
        for name, operation in routes.items()
        for parameter in operation.get("parameters", ())
        if f"`{parameter['name']}`" not in sections[name]
    ] == []


def test_every_error_has_its_status() -> None:
    text = (REFERENCE / "errors.md").read_text(encoding="utf-8")
    listed = dict(re.findall(r"^\| `\w+` \| `(\w+)` \| (\d{3}) \|", text, re.MULTILINE))

    assert listed == {kind.__name__: str(status) for kind, status in STATUSES.items()}


def _missing(page: str, names: list[str]) -> list[str]:
    """The names that the page does not show as code."""
    text = (REFERENCE / page).read_text(encoding="utf-8")
    return [name for name in names if f"`{name}`" not in text]
