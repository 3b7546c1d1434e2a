"""Catalogues at a terminal: browsed, an entry looked at, and put into the board file."""

import asyncio
import json
import os
import pty
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.cli.conftest import Command
from tests.features.marketplace.made import SHOP, directory, files, listed, weather

pytestmark = pytest.mark.timeout(60)

ENTRY = "official/io.github.someone/weather"


@pytest.fixture
def market(folder: Path) -> Path:
    """A board with a registry that is a file, and one that is not there."""
    (folder / "servers.json").write_text(json.dumps(listed(weather(), {"name": "bad"})))
    (folder / "board.yaml").write_text(
        "# mine\n"
        "marketplaces:\n"
        "  - {kind: mcp_registry, name: official, document: servers.json}\n"
        "  - {kind: openapi_directory, name: apis, document: missing.json}\n"
    )
    return folder


def test_a_board_without_a_marketplace_says_so(folder: Path, pegboard: Command) -> None:
    done = pegboard("market", "list")

    assert done.returncode == 0
    assert done.stderr.startswith("no marketplace is configured; name one in board.yaml:\n")
    assert "- {kind: mcp_registry, name: official" in done.stderr


@pytest.fixture
def shop(folder: Path) -> Iterator[str]:
    """A directory on loopback whose API can be asked, served by another thread."""
    loop, up, stop = asyncio.new_event_loop(), threading.Event(), asyncio.Event()
    found: list[str] = []

    async def serve() -> None:
        async with files() as (_made, server):
            found.append(server.authority)
            up.set()
            await stop.wait()

    thread = threading.Thread(target=loop.run_until_complete, args=(serve(),))
    thread.start()
    up.wait()
    (folder / "board.yaml").write_text(
        "marketplaces:\n"
        "  - {kind: openapi_directory, name: apis, document: list.json}\n"
        f"network: {{allow_hosts: ['{found[0]}']}}\n"
    )
    listing = directory(f"http://{found[0]}/orders.json")
    (folder / "list.json").write_text(json.dumps(listing))
    yield found[0]
    loop.call_soon_threadsafe(stop.set)
    thread.join()
    loop.close()


@pytest.fixture
def taken(folder: Path) -> Iterator[None]:
    """The data directory in the hands of a server."""
    code = (
        "import asyncio\n"
        "from pegboard.runtime import Pegboard\n"
        "async def hold():\n"
        "    async with Pegboard(data='data'):\n"
        "        print('up', flush=True)\n"
        "        await asyncio.sleep(60)\n"
        "asyncio.run(hold())\n"
    )
    holder = subprocess.Popen(
        [sys.executable, "-c", code], cwd=folder, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout is not None
    assert holder.stdout.readline() == "up\n"
    yield
    holder.terminate()
    holder.communicate()


def digest_of(pegboard: Command, entry: str, *more: str) -> str:
    return json.loads(pegboard("market", "show", entry, "--json", *more).stdout)["digest"]


def test_entries_are_listed_whatever_other_catalogues_do(pegboard: Command, market: Path) -> None:
    done = pegboard("market", "list", "-c", "Weather", "tells")
    nothing = pegboard("market", "list", "shops")

    assert done.returncode == 0, done.stderr
    assert f"{ENTRY}  1.0.2" in done.stdout
    assert "marketplace 'apis' is failed: the file cannot be read" in done.stderr
    assert "marketplace 'official': 1 entry left out, its name is not" in done.stderr
    assert done.stderr.endswith("1 entry\n")
    assert nothing.stderr.endswith("0 entries\n")


def test_a_list_goes_on_where_it_ended(pegboard: Command, market: Path) -> None:
    other = weather(name="io.github.other/weather")
    (market / "servers.json").write_text(json.dumps(listed(weather(), other)))

    first = pegboard("market", "list", "--limit", "1")
    page = json.loads(pegboard("market", "list", "--limit", "1", "--json").stdout)
    second = pegboard("market", "list", "--limit", "1", "--cursor", page["next_cursor"])

    assert "official/io.github.other/weather" in first.stdout
    assert f"more with --cursor {page['next_cursor']}" in first.stderr
    assert ENTRY in second.stdout


def test_an_entry_is_shown_with_all_that_would_come_of_it(pegboard: Command, market: Path) -> None:
    done = pegboard("market", "show", ENTRY)

    assert done.returncode == 0, done.stderr
    for line in (
        f"entry: {ENTRY}\n",
        "publisher: io.github.someone\n",
        "found by: weather (keyword)\n",
        "command on this machine: npx -y @someone/weather@1.0.2\n",
        "needs: API_KEY (variable, secret): MARKET_WEATHER_API_KEY is not set.\n",
        "! It runs a third-party program on this machine with 'npx'",
        "Its tools are unknown: only its program can list them",
        "      API_KEY: ${MARKET_WEATHER_API_KEY}\n",
    ):
        assert line in done.stdout
    assert f"digest: {digest_of(pegboard, ENTRY)}\n" in done.stdout


def test_an_entry_is_put_into_the_board_file_as_it_was_looked_at(
    pegboard: Command, market: Path
) -> None:
    digest = digest_of(pegboard, ENTRY)
    before = (market / "board.yaml").read_text()
    given = {"MARKET_WEATHER_API_KEY": "k"}
    add = ("market", "add", ENTRY, "--no-check", "--digest", digest)
    unset = pegboard(*add)
    shown = pegboard(*add, "--dry-run", **given)
    unchanged = (market / "board.yaml").read_text()
    done = pegboard(*add, "--data", "data", **given)
    after = (market / "board.yaml").read_text()
    again = pegboard(*add, **given)
    audit = pegboard("audit", "list", "--data", "data")

    assert unset.returncode == 2
    told = "the new source: config.env.API_KEY: the variable MARKET_WEATHER_API_KEY is not set; "
    assert told in unset.stderr
    assert "board.yaml:" not in unset.stderr
    assert "+      command: npx" in shown.stdout
    assert unchanged == before
    assert done.returncode == 0, done.stderr
    assert after.startswith(before)
    assert "  - kind: mcp\n    name: weather\n    config:\n      command: npx\n" in after
    assert again.returncode == 2
    assert "already defines this source" in again.stderr
    assert "io.github.someone/weather" in audit.stdout


def test_what_has_changed_is_not_put_there(pegboard: Command, market: Path) -> None:
    digest = digest_of(pegboard, ENTRY)
    (market / "servers.json").write_text(json.dumps(listed(weather(version="6.6.6"))))

    done = pegboard("market", "add", ENTRY, "--digest", digest, MARKET_WEATHER_API_KEY="k")

    assert done.returncode == 2
    assert "has changed since it was reviewed" in done.stderr
    assert "sources:" not in (market / "board.yaml").read_text()


def test_nothing_is_added_that_nobody_has_looked_at(pegboard: Command, market: Path) -> None:
    unseen = pegboard("market", "add", ENTRY)

    assert unseen.returncode == 2
    assert f"'pegboard market show {ENTRY}' shows it" in unseen.stderr
    assert "sources:" not in (market / "board.yaml").read_text()


def at_a_terminal(folder: Path, answer: str) -> subprocess.CompletedProcess[str]:
    """`market add`, with somebody at a terminal who answers."""
    ours, theirs = pty.openpty()
    os.write(ours, f"{answer}\n".encode())
    environment = {key: value for key, value in os.environ.items() if "PEGBOARD" not in key}
    try:
        return subprocess.run(
            [sys.executable, "-m", "pegboard", "market", "add", ENTRY, "--no-check"],
            stdin=theirs,
            cwd=folder,
            env={**environment, "MARKET_WEATHER_API_KEY": "k"},
            capture_output=True,
            text=True,
            check=False,
        )
    finally:
        os.close(ours)
        os.close(theirs)


@pytest.mark.slow
def test_a_terminal_is_asked_and_may_say_no(market: Path) -> None:
    no = at_a_terminal(market, "n")
    between = (market / "board.yaml").read_text()
    yes = at_a_terminal(market, "y")

    assert (no.returncode, "nothing is added" in no.stderr) == (0, True)
    assert "Add it to the board?" in no.stderr
    assert "sources:" not in between
    assert yes.returncode == 0, yes.stderr
    assert "digest: " in yes.stdout
    assert "name: weather" in (market / "board.yaml").read_text()


def test_operations_of_an_api_are_put_there_and_shown(
    pegboard: Command, folder: Path, shop: str
) -> None:
    entry = f"apis/{SHOP}"
    shown = pegboard("market", "show", entry, "--tools", "getOrder, dropOrder", "--name", "mine")
    done = pegboard("market", "add", entry, "-y", "--tools", "getOrder", "--name", "mine")

    assert "dropOrder  write" in shown.stdout
    assert "! 1 of its 2 tools may change something." in shown.stdout
    assert done.returncode == 0, done.stderr
    assert "mine__getOrder  read" in done.stdout
    assert "mine__dropOrder" not in done.stdout
    assert "      - operations:\n        - getOrder\n" in (folder / "board.yaml").read_text()

    more = pegboard("market", "add", entry, "-y", "--no-check", "--tools", "dropOrder")
    apart = pegboard(
        "market", "add", entry, "-y", "--no-check", "--tools", "dropOrder", "--name", "other"
    )

    assert more.returncode == 2
    assert re.search(
        r"board.yaml:\d+ already has tools of this server: write .*dropOr", more.stderr
    )
    assert apart.returncode == 0, apart.stderr


@pytest.mark.slow
def test_what_the_audit_trail_does_not_hear_of_is_told(
    pegboard: Command, market: Path, taken: None
) -> None:
    digest = digest_of(pegboard, ENTRY)
    add = ("market", "add", ENTRY, "--no-check", "--digest", digest, "--data", "data")

    done = pegboard(*add, MARKET_WEATHER_API_KEY="k")

    assert done.returncode == 0, done.stderr
    assert "this was not written to the audit trail: " in done.stderr
    assert " is in use by " in done.stderr
    assert "name: weather" in (market / "board.yaml").read_text()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        pytest.param(("show", "official"), "write MARKET/ENTRY", id="no entry"),
        pytest.param(("show", "other/x"), "there are: apis, official", id="no marketplace"),
        pytest.param(("show", ENTRY, "--way", "x"), "available: package-1", id="no way"),
        pytest.param(("list", "--cursor", "?"), "cursor", id="no page"),
    ],
)
def test_what_there_is_not_is_wrong_use(
    pegboard: Command, market: Path, arguments: tuple[str, ...], says: str
) -> None:
    done = pegboard("market", *arguments)

    assert done.returncode == 2
    assert says in done.stderr


def test_what_cannot_be_had_is_not_put_there(pegboard: Command, market: Path) -> None:
    server = weather(packages=[{"registryType": "cargo", "identifier": "x"}])
    (market / "servers.json").write_text(json.dumps(listed(server)))

    shown = pegboard("market", "show", ENTRY)
    done = pegboard("market", "add", ENTRY, "-y")

    assert "It cannot be installed this way: packages of 'cargo' are not supported" in (
        shown.stdout
    )
    assert done.returncode == 2
    assert "It cannot be installed this way" in done.stderr
