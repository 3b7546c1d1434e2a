"""Connectors and agents on the command line."""

import json
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from pegboard.cli.client.port import ResourcesClient
from pegboard.cli.client.resources import LocalResources, RemoteResources, find_id
from pegboard.errors import ResourceNotFound

DATA = {"PEGBOARD_DATA": "data"}
CLIENTS: tuple[type[ResourcesClient], ...] = (LocalResources, RemoteResources)


@pytest.mark.slow
def test_a_connector_is_added_listed_shared_and_removed(pegboard: Command, tmp_path: Path) -> None:
    config = tmp_path / "orders.yaml"
    config.write_text(
        "base_url: https://orders.example\n"
        "actions: [{name: list_orders, path: /orders, description: List orders.}]\n"
    )
    added = pegboard("resources", "add", "orders", "--config", str(config), **DATA)
    listed = json.loads(pegboard("resources", "list", "--json", **DATA).stdout)["resources"]
    shown = pegboard("show", "orders__list_orders", **DATA)
    shared = pegboard("resources", "share", "orders", "--global", **DATA)
    tested = json.loads(pegboard("resources", "test", "orders", "--json", **DATA).stdout)
    removed = pegboard("resources", "remove", "orders", **DATA)
    gone = pegboard("resources", "remove", "orders", **DATA)

    assert added.stdout == "added: orders\nok, 1 tool\n  orders__list_orders\n", added.stderr
    assert [(it["name"], it["visibility"], it["seen_as"]) for it in listed] == [
        ("orders", "private", "unrestricted")
    ]
    assert "List orders." in shown.stdout
    assert shared.stdout == "global: orders\n"
    assert tested == {"status": "ok", "reason": "", "tools": ["orders__list_orders"]}
    assert removed.stdout == "removed: orders\n"
    assert gone.returncode != 0
    assert "There is no 'orders' here." in gone.stderr


@pytest.mark.slow
def test_a_configuration_is_shown_changed_and_used(pegboard: Command, tmp_path: Path) -> None:
    config = tmp_path / "orders.yaml"
    actions = "actions: [{name: list_orders, path: /orders}, {name: drop_orders, path: /drop}]\n"
    config.write_text(f"base_url: https://orders.example\n{actions}")
    pegboard("resources", "add", "orders", "--config", str(config), **DATA)

    shown = pegboard("resources", "show", "orders", **DATA)
    alone = pegboard("resources", "show", "orders", "--config", **DATA)
    config.write_text(
        f"{alone.stdout}exclude: [{{operations: ['drop*']}}]\n"
        "overrides: {list_orders: {name: find_orders, projection: 'items[].id'}}\n"
    )
    changed = pegboard(
        *("resources", "change", "orders", "--config", str(config), "--title", "The orders"), **DATA
    )
    titled = json.loads(pegboard("resources", "show", "orders", "--json", **DATA).stdout)
    nothing = pegboard("resources", "change", "orders", **DATA)

    assert "name: orders\n" in shown.stdout, shown.stderr
    assert "  base_url: https://orders.example\n" in shown.stdout
    assert changed.stdout == "changed: orders\nok, 1 tool\n  orders__find_orders\n", changed.stderr
    assert titled["title"] == "The orders"
    assert nothing.returncode != 0
    assert "Give --config, --title or --description." in nothing.stderr


def test_a_name_of_several_is_refused() -> None:
    listed = {
        "resources": [
            {"id": "r1", "name": "x", "kind": "connector"},
            {"id": "r2", "name": "x", "kind": "agent"},
        ]
    }
    assert find_id(listed, "r2") == "r2"
    with pytest.raises(ResourceNotFound, match=r"write r1 \(connector\) or r2 \(agent\)"):
        find_id(listed, "x")
