"""A command beside the process that has its data directory."""

import json
import stat
from pathlib import Path

import pytest
from tests.cli.client.conftest import TOKEN
from tests.cli.conftest import Command, Done
from tests.cli.holding import holding
from tests.durability.served import Server, until

from pegboard.cli.options import with_client
from pegboard.errors import ConfigError
from pegboard.runtime import Settings
from pegboard.storage.databases.directory_lock import DirectoryLock, write_note

pytestmark = pytest.mark.timeout(60)


@pytest.fixture
def beside(remote: Command, server_folder: Path, monkeypatch: pytest.MonkeyPatch) -> Command:
    """Runs a command in the folder of the server, which it is told neither address nor token of."""
    monkeypatch.chdir(server_folder)

    def run(*arguments: str, stdin: str = "", **environment: str) -> Done:
        given = {"PEGBOARD_URL": "", "PEGBOARD_TOKEN": "", "PEGBOARD_DATA": "data"}
        return remote(*arguments, stdin=stdin, **{**given, **environment})

    return run


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("tools",), "my__greet"),
        (("call", "my__greet", "-a", "name=Ada"), "Hello Ada!"),
        (("approvals", "list"), "caller"),
        (("audit", "verify"), "records are intact"),
        (("plan", "my__greet", "-p", "name=Ada"), "my__greet"),
        (("runs", "list"), "begun"),
        (("graph", "show"), "my__greet"),
        (("sources",), "functions"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, tuple) else "",
)
def test_a_command_finds_the_server_that_has_its_data(
    arguments: tuple[str, ...], says: str, beside: Command
) -> None:
    done = beside(*arguments)

    assert done.returncode == 0, done.stderr
    assert says in done.stdout


def test_the_history_is_read_while_the_server_writes_it(beside: Command) -> None:
    beside("call", "my__greet", "-a", "name=Ada")

    assert until(lambda: "my__greet" in beside("history").stdout)


def test_it_acts_as_the_local_user(beside: Command) -> None:
    explained = json.loads(beside("explain", "my__greet", "--json").stdout)
    beside("switches", "off", "my__busy")
    thrown = json.loads(beside("switches", "list", "--json").stdout)["switches"]
    beside("switches", "on", "my__busy")

    assert explained["principal"] == "local"
    assert [item["by"] for item in thrown] == ["/local"]


@pytest.mark.slow
def test_a_switch_that_means_nothing_is_told(beside: Command) -> None:
    off = beside("switches", "off", "my__nothing")
    beside("switches", "on", "my__nothing")

    assert "there is no tool 'my__nothing' now" in off.stderr


def test_doctor_checks_the_server(beside: Command, server: Server) -> None:
    checks = {item["check"]: item for item in json.loads(beside("doctor", "--json").stdout)}

    assert checks["data"]["status"] == checks["server"]["status"] == "ok"
    assert checks["source my"]["detail"] == "6 tools"
    who = f"process {server.process.pid} ('pegboard serve', since "
    assert checks["data"]["detail"].startswith(who)
    assert ") uses it, and is checked at http://" in checks["data"]["detail"]


def test_another_board_is_not_mistaken_for_it(beside: Command, tmp_path: Path) -> None:
    other = tmp_path / "board.yaml"
    other.write_text("sources: []\n")
    done = beside("tools", "--board", str(other))
    stored = beside("approvals", "list")

    assert done.returncode == 2
    assert f"not {other}." in done.stderr
    assert stored.returncode == 0


def test_the_token_of_a_start_is_for_this_user_alone(server: Server, server_folder: Path) -> None:
    lock = server_folder / "data" / "lock"
    token = json.loads(lock.read_text().splitlines()[1])["token"]
    arguments = Path(f"/proc/{server.process.pid}/cmdline").read_bytes()
    environment = Path(f"/proc/{server.process.pid}/environ").read_bytes()
    answer = server.client.get("/tools", headers={"Authorization": f"Bearer {token}"})
    refused = server.client.get("/tools", headers={"Authorization": f"Bearer {token}x"})

    assert stat.S_IMODE(lock.stat().st_mode) == 0o600
    assert token.encode() not in arguments + environment
    assert (answer.status_code, refused.status_code) == (200, 401)
    assert token not in (server_folder / "errors.txt").read_text()
    assert TOKEN not in lock.read_text()


@pytest.mark.slow
def test_what_a_dead_server_has_left_is_ignored(pegboard: Command, folder: Path) -> None:
    with Server(folder, environment={"PEGBOARD_DATA": "data"}) as server:
        pass  # it is killed, and leaves its note
    left = (folder / "data" / "lock").read_text()
    done = pegboard("call", "my__greet", "-a", "name=Ada", "--data", "data")

    assert str(server.process.pid) in left
    assert (done.returncode, done.stdout) == (0, "Hello Ada!\n")


@pytest.mark.slow
def test_a_process_that_ends_soon_is_waited_for(pegboard: Command, folder: Path) -> None:
    with holding(folder) as holder:
        assert holder.stdin is not None
        holder.stdin.close()
        done = pegboard("call", "my__greet", "-a", "name=Ada", "--data", "data")

    assert (done.returncode, done.stdout) == (0, "Hello Ada!\n")


def test_what_this_process_has_itself_is_not_waited_for(tmp_path: Path) -> None:
    lock = DirectoryLock(tmp_path)
    write_note(tmp_path, '{"url": "http://127.0.0.1:1", "token": "t"}')
    with pytest.raises(ConfigError, match="in use by this process"):
        with_client(Settings(data=tmp_path), lambda client: client.list_switches(), opens="stored")
    lock.release()
