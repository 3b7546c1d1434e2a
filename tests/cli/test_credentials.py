"""Credentials on the command line: values come from the input, and are never shown."""

import json
from base64 import b64encode
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from pegboard.cli.client.credentials import LocalCredentials, RemoteCredentials
from pegboard.cli.client.port import CredentialsClient

DATA = {"PEGBOARD_DATA": "data"}
SECRET = "a-token-of-mine"
BOARD = """
sources:
  - kind: openapi
    name: shop
    config:
      base_url: http://127.0.0.1:9
      auth: {kind: caller}
      actions: [{name: find, path: /find}]
"""
OLD, NEW = (b64encode(bytes([number]) * 32).decode() for number in (1, 2))

CLIENTS: tuple[type[CredentialsClient], ...] = (LocalCredentials, RemoteCredentials)


@pytest.fixture
def folder(folder: Path) -> Path:
    (folder / "board.yaml").write_text(BOARD)
    return folder


def test_a_credential_is_stored_listed_and_removed(pegboard: Command) -> None:
    added = pegboard("credentials", "add", "shop", "--name", "work", stdin=f"{SECRET}\n", **DATA)
    listed = pegboard("credentials", "list", **DATA)
    found = json.loads(pegboard("credentials", "list", "--json", **DATA).stdout)["credentials"]
    removed = pegboard("credentials", "remove", found[0]["id"], **DATA)
    gone = pegboard("credentials", "remove", found[0]["id"], **DATA)

    assert "stored: cred_" in added.stdout, added.stderr
    assert ("work" in listed.stdout, "default" in listed.stdout) == (True, True)
    assert [(item["source"], item["name"], item["owner"]) for item in found] == [
        ("shop", "work", "local")
    ]
    assert removed.stdout == "removed: shop/work\n"
    assert "There is no credential" in gone.stderr
    assert SECRET not in "".join(done.stdout + done.stderr for done in (added, listed, removed))


def test_a_call_without_a_credential_names_the_command_that_stores_one(pegboard: Command) -> None:
    missing = pegboard("call", "shop__find", **DATA)
    named = pegboard("call", "shop__find", "--account", "home", **DATA)

    assert missing.stderr.endswith("\n  pegboard credentials add shop\n")
    assert named.stderr.endswith("\n  pegboard credentials add shop --name home\n")


def test_the_master_key_is_rotated(pegboard: Command) -> None:
    before = {**DATA, "PEGBOARD_SECRET_KEY": OLD}
    pegboard("credentials", "add", "shop", stdin=f"{SECRET}\n", **before)

    rotated = pegboard("credentials", "rotate", **DATA, PEGBOARD_SECRET_KEY=f"{NEW},{OLD}")
    again = pegboard("credentials", "rotate", **DATA, PEGBOARD_SECRET_KEY=NEW)

    assert rotated.stdout == "1 credential encrypted with the newest master key\n", rotated.stderr
    assert again.stdout == "0 credentials encrypted with the newest master key\n"
