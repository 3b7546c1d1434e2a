"""Roles of organisations and quotas on the command line."""

import json
from pathlib import Path

import httpx2
import pytest
from tests.cli.client.conftest import TOKEN
from tests.cli.conftest import BOARD, TOOLS, Command
from tests.durability.served import Server

from pegboard.cli.client.rights import (
    LocalQuotas,
    LocalRoles,
    QuotasClient,
    RemoteQuotas,
    RemoteRoles,
    RolesClient,
)

ACCOUNT = {"handle": "ada", "password": "correct horse", "organisation": "acme"}
QUOTAS: tuple[type[QuotasClient], ...] = (LocalQuotas, RemoteQuotas)
ROLES: tuple[type[RolesClient], ...] = (LocalRoles, RemoteRoles)


@pytest.fixture
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("rights")
    (folder / "tools.py").write_text(TOOLS)
    (folder / "board.yaml").write_text(BOARD.replace("{deny", '{ask: ["my__fail"], deny'))
    return folder


@pytest.fixture
def key(house: Path, pegboard: Command) -> str:
    """A key of the first account, made on a server that has ended; its data stays."""
    environment = {"PEGBOARD_TOKEN": TOKEN, "PEGBOARD_DATA": "data"}
    with Server(house, environment=environment) as running:
        url = str(running.client.base_url).rstrip("/")
        asked = pegboard("people", "link", PEGBOARD_URL=url, PEGBOARD_TOKEN=TOKEN)
        link = asked.stdout.strip().partition("#link=")[2]
        with httpx2.Client(base_url=url) as browser:
            joined = browser.post("/v1/people/join", json={"link": link, **ACCOUNT}).json()
            csrf = {"X-Pegboard-CSRF": joined["csrf"], "Origin": url}
            wanted = {"name": "cli", "scopes": ["*", "approvals:decide"]}
            made = browser.post("/v1/keys", json=wanted, headers=csrf).json()
        online = {"PEGBOARD_URL": url, "PEGBOARD_TOKEN": made["key"]}
        check_rights(pegboard, online)
        check_names(pegboard, online)
    return str(made["key"])


def check_names(pegboard: Command, env: dict[str, str]) -> None:
    """People are named, where they have accounts, and not their ids."""
    asked = pegboard("call", "my__fail", **env)
    approvals = pegboard("approvals", "list", **env)
    explained = pegboard("explain", "my__greet", **env)

    assert asked.returncode != 0, asked.stdout
    assert "ada" in approvals.stdout.split(), approvals.stdout
    assert "my__greet for ada: allow" in explained.stdout


def check_rights(pegboard: Command, env: dict[str, str]) -> None:
    """Define, give and remove a role; set, list and remove a quota."""
    role = pegboard(
        "roles", "set", "acme", "clerk", "--level", "my=write", "--level", "a=read", **env
    )
    wrong = pegboard("roles", "set", "acme", "clerk", "--level", "my", **env)
    unknown = pegboard("roles", "set", "acme", "clerk", "--level", "my=own", **env)
    given = pegboard("roles", "assign", "acme", "ada", "clerk", "administrator", **env)
    listed = pegboard("roles", "list", "acme", **env)
    gone = pegboard("roles", "delete", "acme", "clerk", **env)

    assert role.stdout == "clerk: my=write, a=read\n"
    assert (wrong.returncode, unknown.returncode) == (2, 2)
    assert "write SOURCE=read" in wrong.stderr
    assert given.stdout == "ada: administrator, clerk\n"
    assert "my=write, a=read" in listed.stdout
    assert gone.stdout == "deleted: clerk\n"

    limited = pegboard("quotas", "set", "calls", "day", "3", "--person", "ada", **env)
    costly = pegboard("quotas", "set", "cost", "month", "100", "--organisation", "acme", **env)
    freed = pegboard("quotas", "set", "cost", "month", "none", "--organisation", "acme", **env)
    dropped = pegboard("quotas", "delete", "cost", "month", "--organisation", "acme", **env)
    nonsense = pegboard("quotas", "set", "calls", "day", "many", "--person", "ada", **env)
    quotas = json.loads(pegboard("quotas", "list", "--json", **env).stdout)["quotas"]
    shown = pegboard("quotas", "list", **env)
    lifted = pegboard("quotas", "delete", "calls", "day", "--person", "ada", **env)
    again = pegboard("quotas", "delete", "calls", "day", "--person", "ada", **env)

    assert limited.stdout == "ada: 3 calls a day\n"
    assert costly.stdout == "acme: $100.00 a month\n"
    assert freed.stdout == "acme: no limit of costs a month\n"
    assert dropped.returncode == 0
    assert "write a number, or 'none'" in nonsense.stderr
    assert [(it["person"], it["limit"], it["set_by"]) for it in quotas] == [("ada", 3, "operator")]
    assert "operator" in shown.stdout
    assert lifted.stdout == "deleted: calls a day of ada\n"
    assert "There is no such quota." in again.stderr


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_roles_and_quotas_are_set_on_a_server_and_in_the_data_beside_it(
    key: str, house: Path, pegboard: Command
) -> None:
    offline = {"PEGBOARD_DATA": str(house / "data"), "PEGBOARD_TOKEN": key}
    check_rights(pegboard, offline)
    check_names(pegboard, offline | {"PEGBOARD_BOARD": str(house / "board.yaml")})
