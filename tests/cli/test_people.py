"""People on the command line: links, lists, and signing in to a server."""

import json
import stat
from collections.abc import Iterator
from pathlib import Path

import httpx2
import pytest
from tests.cli.client.conftest import TOKEN
from tests.cli.conftest import BOARD, TOOLS, Command
from tests.durability.served import Server

from pegboard.cli.client.addresses import is_loopback
from pegboard.cli.client.people import LocalPeople, RemotePeople
from pegboard.cli.client.port import PeopleClient
from pegboard.cli.stored_keys import keys_file, read_key, store_key
from pegboard.errors import ConfigError

DATA = {"PEGBOARD_DATA": "data"}
PASSWORD = "correct horse"
ACCOUNT = {"handle": "ada", "password": PASSWORD, "organisation": "acme"}

CLIENTS: tuple[type[PeopleClient], ...] = (LocalPeople, RemotePeople)


@pytest.fixture
def house(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("people")
    (folder / "tools.py").write_text(TOOLS)
    (folder / "board.yaml").write_text(BOARD)
    return folder


@pytest.fixture
def served(house: Path) -> Iterator[Server]:
    with Server(house, environment={"PEGBOARD_TOKEN": TOKEN, **DATA}) as running:
        yield running


@pytest.fixture
def config(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    return tmp_path / "config" / "pegboard" / "keys.json"


def join(url: str, link: str) -> None:
    """Make the first account in a browser."""
    token = link.strip().partition("#link=")[2]
    answer = httpx2.post(f"{url}/v1/people/join", json={"link": token, **ACCOUNT})
    assert answer.status_code == 201, answer.text


def test_without_a_server_the_first_link_is_made_and_stored(pegboard: Command) -> None:
    nobody = pegboard("people", "list", **DATA)
    made = pegboard("people", "link", **DATA)
    link = json.loads(pegboard("people", "link", "--json", **DATA).stdout)

    assert "pegboard people link" in nobody.stderr
    assert made.stdout.startswith("http://127.0.0.1:8321/ui/join#link=")
    assert "it can be used once" in made.stderr
    assert link["purpose"] == "first"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("people", "link", "eve"), "There is no person 'eve'."),
        (("people", "link", "--organisation", "acme"), "There is no organisation 'acme'."),
        (("people", "disable", "eve"), "There is no person 'eve'."),
        (("login",), "--url or PEGBOARD_URL"),
        (("people", "operator", "eve"), "--url or PEGBOARD_URL"),
    ],
    ids=" ".join,
)
def test_what_cannot_be_done_says_so(
    arguments: tuple[str, ...], says: str, pegboard: Command
) -> None:
    done = pegboard(*arguments, **DATA)

    assert done.returncode != 0
    assert says in done.stderr


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_person_signs_in_and_the_commands_use_the_key(
    served: Server, pegboard: Command, config: Path
) -> None:
    url = str(served.client.base_url).rstrip("/")
    local = {"PEGBOARD_URL": url, "PEGBOARD_TOKEN": TOKEN}
    person = {"PEGBOARD_URL": url}
    join(url, pegboard("people", "link", **local).stdout)

    refused = pegboard("tools", **local)
    wrong = pegboard("login", "--name", "ada", stdin="wrong horse\n", **person)
    signed = pegboard("login", "--name", "ada", stdin=f"{PASSWORD}\n", **person)
    tools = pegboard("tools", **person)
    listed = json.loads(pegboard("people", "list", "--json", **person).stdout)["people"]
    invited = pegboard("people", "link", "--organisation", "acme", "--role", "editor", **person)
    last = pegboard("people", "disable", "ada", **person)
    dismiss = ("people", "operator", "ada", "--remove", "--name", "ada")
    kept = pegboard(*dismiss, stdin=f"{PASSWORD}\n", **person)
    named = pegboard(
        *("people", "operator", "ada", "--name", "ada"), stdin=f"{PASSWORD}\n", **person
    )
    enabled = pegboard("people", "enable", "ada", **person)

    assert f"pegboard login --url {url}" in refused.stderr
    assert wrong.returncode != 0
    assert "The name or the password is wrong." in wrong.stderr
    assert signed.stdout.endswith(f"signed in to {url} as ada\n")
    assert "my__greet" in tools.stdout
    assert [(item["handle"], item["operator"]) for item in listed] == [("ada", True)]
    assert "/ui/join#link=" in invited.stdout
    assert "the last operator" in last.stderr
    assert "the last operator" in kept.stderr
    assert named.stdout.endswith("operator: ada\n"), named.stderr
    assert enabled.stdout == "enabled: ada\n"
    assert stat.S_IMODE(config.stat().st_mode) == 0o600
    assert PASSWORD not in config.read_text()


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_a_person_signs_out_of_browsers_with_the_key_of_the_login(
    served: Server, pegboard: Command, config: Path
) -> None:
    url = str(served.client.base_url).rstrip("/")
    local = {"PEGBOARD_URL": url, "PEGBOARD_TOKEN": TOKEN}
    person = {"PEGBOARD_URL": url}
    join(url, pegboard("people", "link", **local).stdout)
    pegboard("login", "--name", "ada", stdin=f"{PASSWORD}\n", **person)

    listed = json.loads(pegboard("people", "sessions", "--json", **person).stdout)["sessions"]
    shown = pegboard("people", "sessions", **person)
    wrong = pegboard("people", "sign-out", **person)
    unknown = pegboard("people", "sign-out", "x", **person)
    one = pegboard("people", "sign-out", listed[0]["id"], **person)
    everywhere = pegboard("people", "sign-out", "--everywhere", **person)
    none = pegboard("people", "sessions", **person)

    assert [item["used_from"]["address"] for item in listed] == ["127.0.0.1"]
    assert "127.0.0.1" in shown.stdout
    assert "--everywhere" in wrong.stderr
    assert "You have no such session." in unknown.stderr
    assert one.stdout == f"signed out: {listed[0]['id']}\n"
    assert everywhere.stdout == "signed out of every browser\n"
    assert none.stderr == "you are signed in nowhere\n"


@pytest.mark.timeout(60)
def test_beside_the_server_a_person_who_is_locked_out_gets_a_link(
    served: Server, house: Path, pegboard: Command
) -> None:
    url = str(served.client.base_url).rstrip("/")
    beside = {"PEGBOARD_DATA": str(house / "data")}
    join(url, pegboard("people", "link", **beside).stdout)

    link = pegboard("people", "link", "ada", **beside)
    tools = pegboard("tools", "--board", str(house / "board.yaml"), **beside)

    assert link.stdout.startswith(f"{url}/ui/join#link=")
    assert "accounts" in tools.stderr


def test_keys_are_stored_by_address_for_this_user_alone(config: Path) -> None:
    store_key("https://Board.example/", "one")
    store_key("https://other.example", "two")

    assert keys_file() == config
    assert read_key("https://board.example") == "one"
    assert read_key("https://other.example/") == "two"
    assert read_key("https://nothing.example") == ""
    config.chmod(0o644)
    with pytest.raises(ConfigError, match="chmod 600"):
        read_key("https://board.example")


@pytest.mark.parametrize("text", ["[]", "{", '"key"'])
def test_a_file_without_keys_is_an_error(text: str, config: Path) -> None:
    config.parent.mkdir(parents=True)
    config.write_text(text)
    config.chmod(0o600)

    with pytest.raises(ConfigError, match=r"keys\.json"):
        read_key("https://board.example")


@pytest.mark.parametrize(
    ("url", "is_own"),
    [("http://127.0.0.1:1", True), ("http://localhost", True), ("https://board.example", False)],
)
def test_an_address_of_this_machine_is_told_from_others(url: str, is_own: bool) -> None:
    assert is_loopback(url) is is_own
