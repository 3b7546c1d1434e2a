import marshal
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from pegboard.sandbox import confine_script
from pegboard.sandbox.backend import CONFINE, own_uid
from pegboard.sandbox.landlock import landlock_abi

ORDERS: dict[str, Any] = {
    "command": ["/bin/echo", "ran"],
    "environment": {},
    "directory": "/",
    "uid": None,
    "dies_with_parent": False,
    "folder": "",
    "landlock": None,
    "filter": "",
    "limits": {},
}


def confined(tmp_path: Path, **changes: Any) -> subprocess.CompletedProcess[str]:
    """The program with these orders, without a supervisor."""
    path = tmp_path / "orders"
    path.write_bytes(marshal.dumps({**ORDERS, **changes}))
    command = [sys.executable, "-I", "-S", str(CONFINE), str(path), "-", "-"]
    return subprocess.run(command, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("uid", [0, 1000, 65534])
def test_it_becomes_no_user_that_others_may_be(tmp_path: Path, uid: int) -> None:
    done = confined(tmp_path, uid=uid)

    assert (done.returncode, done.stdout) == (confine_script.EXIT_UNCONFINED, "")


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"directory": "/no/such"}, "/no/such: No such file or directory"),
        ({"filter": "00" * 8}, "Invalid argument"),
        ({"landlock": {"abi": 1, "files": True, "network": True, "read": ["/etc/hostname/x"],
                       "write": [], "devices": []}}, "/etc/hostname/x: Not a directory"),
    ],
    ids=["folder", "filter", "landlock"],
)  # fmt: skip
def test_a_wall_that_cannot_be_put_up_leaves_the_command_unstarted(
    tmp_path: Path, changes: dict[str, Any], why: str
) -> None:
    done = confined(tmp_path, **changes)

    assert (done.returncode, done.stdout) == (confine_script.EXIT_UNCONFINED, "")
    assert done.stderr in {why, "Operation not supported", "Function not implemented"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root takes users of their own")
def test_every_job_of_root_has_a_user_of_its_own() -> None:
    first, second = own_uid(), own_uid()

    assert first is not None
    assert second is not None
    assert first != second
    assert min(first, second) >= 0x5000_0000


def test_all_descendants_are_found() -> None:
    child = subprocess.Popen(["/bin/sh", "-c", "sleep 60 & wait"], start_new_session=True)
    found: list[int] = []
    try:
        for _ in range(2_000):
            if len(found := confine_script._descendants()) >= 2 and child.pid in found:
                break
            time.sleep(0.02)
    finally:
        os.killpg(child.pid, 9)
        child.wait()

    assert child.pid in found
    assert len(found) >= 2


@pytest.mark.skipif(landlock_abi() == 0, reason="the kernel has no Landlock")
@pytest.mark.parametrize("abi", [1, 3, 4, 6])
def test_rules_are_made_for_each_version_of_landlock(tmp_path: Path, abi: int) -> None:
    (tmp_path / "file").touch()
    paths = [str(tmp_path / "file"), str(tmp_path), "/no/such"]
    rules = {"read": paths, "write": paths, "devices": ["/dev/null"], "network": False}

    made = confine_script._ruleset({**rules, "files": True, "abi": min(abi, landlock_abi())})

    assert str(Path(f"/proc/self/fd/{made}").readlink()) == "anon_inode:[landlock-ruleset]"
    os.close(made)


def test_a_process_that_is_gone_need_not_be_killed() -> None:
    confine_script._kill((1 << 22) + 1)  # one more than the largest number that a process has
