"""What a command can do to files that it was not given."""

import os
from pathlib import Path

import pytest
from tests.sandbox.inside import (
    ENOUGH,
    attempt,
    is_there,
    names_in,
    python,
    shell,
    state_of,
    text_of,
)

from pegboard.core.ports.sandbox import SandboxLimits
from pegboard.sandbox import ProbedSandbox

_OURS = str(os.getpid())
REFUSED = {"PermissionError", "FileNotFoundError", "OSError", "NotADirectoryError"}


@pytest.fixture
def secret(tmp_path: Path) -> Path:
    """A file beside the workspace that everybody on the machine may read and write."""
    path = tmp_path / "outside" / "secret.txt"
    path.parent.mkdir()
    path.write_text("the secret")
    path.chmod(0o666)
    return path


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    path = tmp_path / "workspace"
    path.mkdir()
    return path


@pytest.mark.parametrize(
    "path",
    [
        "/etc/shadow",
        "/etc/passwd",
        str(Path.home() / ".bashrc"),
        "/proc/1/environ",
        f"/proc/{_OURS}/environ",
        f"/proc/{_OURS}/cwd/pyproject.toml",
        *(str(Path("/proc", who, "root", "etc", "shadow")) for who in ("1", "self", _OURS)),
        "/dev/mem",
        "/dev/kmsg",
        "/dev/vda",
        "/var/log/dpkg.log",
        "/run/docker.sock",
    ],
    ids=lambda path: path.replace(_OURS, "OURS").replace(str(Path.home()), "HOME"),
)
async def test_what_was_not_given_cannot_be_read(sandbox: ProbedSandbox, path: str) -> None:
    assert await attempt(sandbox, "print(open(given[0], 'rb').read(10))", path) in REFUSED


@pytest.mark.parametrize(
    "statement",
    [
        "print(open(given[0]).read())",
        "open(given[0], 'a').write('!')",
        "os.truncate(given[0], 0)",
        "os.unlink(given[0])",
        "os.rename(given[0], given[0] + '2')",
        "os.chmod(given[0], 0o777)",
        "os.chown(given[0], os.getuid(), os.getgid())",
        "os.utime(given[0], (0, 0))",
        "os.setxattr(given[0], 'user.mark', b'1')",
        "os.mkdir(given[0] + '.d')",
        "os.mkfifo(given[0] + '.p')",
        "os.symlink('x', given[0] + '.l')",
        "os.listdir(os.path.dirname(given[0]))",
        "os.link(given[0], 'mine'); print(open('mine').read())",
        "os.symlink(given[0], 'mine'); print(open('mine').read())",
        "os.symlink(os.path.dirname(given[0]), 'd'); open('d/new', 'w')",
        "print(open(os.path.join('..', '..', *given[0].split('/')[1:])).read())",
    ],
)
async def test_a_file_outside_is_out_of_reach(
    sandbox: ProbedSandbox, secret: Path, workspace: Path, statement: str
) -> None:
    before = state_of(secret)

    told = await attempt(sandbox, statement, secret, writable=(workspace,), directory=workspace)

    assert told in REFUSED
    assert state_of(secret) == before
    assert names_in(secret.parent) == ["secret.txt"]


@pytest.mark.parametrize("target", ["secret.txt", "."], ids=["to a file", "to a folder"])
async def test_a_link_that_lies_in_the_workspace_leads_nowhere(
    sandbox: ProbedSandbox, secret: Path, workspace: Path, target: str
) -> None:
    (workspace / "link").symlink_to(secret.parent / target)

    outcome = await shell(
        sandbox, "cat link link/secret.txt", writable=(workspace,), directory=workspace
    )

    assert outcome.stdout == b""
    assert outcome.exit_code != 0


async def test_a_workspace_is_written_and_another_is_not_there(
    sandbox: ProbedSandbox, workspace: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    command = f"mkdir -p a/b && echo kept > a/b/c && cat a/b/c && ls {other}"

    outcome = await shell(sandbox, command, writable=(workspace,), directory=workspace)

    assert outcome.stdout == b"kept\n"
    assert outcome.exit_code != 0
    assert text_of(workspace / "a" / "b" / "c") == "kept\n"


async def test_what_one_run_wrote_the_next_may_change(
    sandbox: ProbedSandbox, workspace: Path
) -> None:
    (workspace / "ours").write_text("1")
    job = {"writable": (workspace,), "directory": workspace}
    await shell(sandbox, "echo 1 > theirs", **job)

    outcome = await shell(sandbox, "echo 2 >> theirs; echo 2 >> ours; cat theirs; rm ours", **job)

    assert (outcome.exit_code, outcome.stdout) == (0, b"1\n2\n")
    assert names_in(workspace) == ["theirs"]


async def test_what_is_readable_is_not_writable(
    sandbox: ProbedSandbox, secret: Path, workspace: Path
) -> None:
    job = {"readable": (secret,), "writable": (workspace,)}

    outcome = await shell(sandbox, f"cat {secret}; echo x >> {secret}; rm -f {secret}", **job)

    assert outcome.stdout == b"the secret"
    assert text_of(secret) == "the secret"


async def test_a_readable_folder_is_read_whole(sandbox: ProbedSandbox, secret: Path) -> None:
    outcome = await shell(
        sandbox, "cat secret.txt", readable=(secret.parent,), directory=secret.parent
    )

    assert outcome.stdout == b"the secret"


async def test_the_systems_programs_cannot_be_changed(sandbox: ProbedSandbox) -> None:
    outcome = await shell(
        sandbox, "echo x > /usr/bin/pegboard-was-here; echo x > /made; ls /usr/bin/sh"
    )

    assert outcome.stdout == b"/usr/bin/sh\n"
    assert not is_there("/usr/bin/pegboard-was-here")
    assert not is_there("/made")


async def test_a_program_cannot_overwrite_what_runs_it(sandbox: ProbedSandbox) -> None:
    statement = "open('/proc/self/exe', 'r+b').write(b'x')"

    assert await attempt(sandbox, statement) in REFUSED


@pytest.mark.parametrize(
    "command",
    [
        "cp /bin/sh mine && chmod 4755 mine",
        "cp /bin/sh mine && chmod u+s mine",
        "mkdir d && cp /bin/sh d/mine && chmod 2755 d/mine",
        "install -m 4755 /bin/sh mine",
    ],
)
async def test_no_program_that_changes_its_user_can_be_left_behind(
    sandbox: ProbedSandbox, workspace: Path, command: str
) -> None:
    outcome = await shell(sandbox, command, writable=(workspace,), directory=workspace)

    assert outcome.exit_code != 0
    assert [name for name in names_in(workspace) if _changes_user(workspace / name)] == []


async def test_a_file_is_not_made_with_bits_that_change_the_user(
    sandbox: ProbedSandbox, workspace: Path
) -> None:
    statement = "os.open('mine', os.O_CREAT | os.O_WRONLY, 0o4755)"

    told = await attempt(sandbox, statement, writable=(workspace,), directory=workspace)

    assert told == "PermissionError"
    assert names_in(workspace) == []


async def test_the_private_folder_is_home_empty_and_gone_afterwards(sandbox: ProbedSandbox) -> None:
    command = "pwd; echo $HOME; echo $TMPDIR; ls -A; echo x > left; mkdir -p a/b"

    first = await shell(sandbox, command)
    second = await shell(sandbox, command)

    for outcome in (first, second):
        (
            home,
            *others,
        ) = outcome.stdout.decode().split()
        # where this checkout lies below the folder, the way to its interpreter is there too
        below = {part for part in Path(__file__).parts if f"{home}/{part}" in __file__}
        assert others[:2] == [home, home]
        assert set(others[2:]) <= below
        assert not is_there(home, "left")


async def test_a_folder_that_cannot_be_opened_is_removed_all_the_same(
    sandbox: ProbedSandbox,
) -> None:
    command = (
        "pwd; umask 0777; mkdir closed; mkdir -m 000 shut; umask 0; mkdir -p a/b; echo x > a/b/c"
    )

    outcome = await shell(sandbox, command)

    assert outcome.exit_code == 0
    assert not is_there(outcome.stdout.decode().strip(), "closed")


@pytest.mark.skipif(os.geteuid() == 0, reason="root removes a folder however it is closed")
async def test_removing_a_closed_folder_changes_nothing_that_it_links_to(
    sandbox: ProbedSandbox, secret: Path
) -> None:
    before = state_of(secret)
    command = (
        f"pwd; mkdir closed; ln -s {secret} closed/link; mkdir -m 500 shut; umask 0777; mkdir d"
    )

    outcome = await shell(sandbox, f"{command}; chmod 500 closed")

    assert not is_there(outcome.stdout.decode().strip(), "closed")
    assert state_of(secret) == before


async def test_folders_nested_without_end_are_removed_all_the_same(sandbox: ProbedSandbox) -> None:
    code = (
        "import os\nprint(os.getcwd())\nfor _ in range(2000):\n    os.mkdir('d'); os.chdir('d')\n"
    )

    outcome = await python(sandbox, code)

    assert outcome.stderr == b""
    assert not is_there(outcome.stdout.decode().strip(), "d")


async def test_a_file_grows_no_larger_than_its_limit(
    sandbox: ProbedSandbox, workspace: Path
) -> None:
    limits = SandboxLimits(timeout=40, file_bytes=1 << 20)
    command = "dd if=/dev/zero of=big bs=65536 count=1000 2>/dev/null"

    outcome = await shell(
        sandbox, command, writable=(workspace,), directory=workspace, limits=limits
    )

    assert outcome.exit_code != 0
    assert len(text_of(workspace / "big")) <= 1 << 20


async def test_bubblewraps_private_folder_is_no_larger_than_the_memory(
    sandbox: ProbedSandbox, request: pytest.FixtureRequest
) -> None:
    if request.node.callspec.params["sandbox"] != "bubblewrap":
        pytest.skip("the private folder of this back end lies on the disk")
    command = (
        "for i in 1 2 3 4 5 6; do dd if=/dev/zero of=$i bs=1M count=60 2>/dev/null; done; du -smx ."
    )

    outcome = await shell(sandbox, command, limits=ENOUGH)

    # `du` counts begun megabytes
    assert int(outcome.stdout.split()[0]) <= (ENOUGH.memory_bytes >> 20) + 1


def _changes_user(path: Path) -> bool:
    return bool(path.stat().st_mode & 0o6000) and path.is_file()
