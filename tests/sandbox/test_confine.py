import marshal
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from pegboard.sandbox import confine
from pegboard.sandbox.back_end import CONFINE, own_uid

ORDERS: dict[str, Any] = {
    "command": ["/bin/echo", "ran"],
    "environment": {},
    "directory": "/",
    "uid": None,
    "dies_with_parent": False,
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

    assert (done.returncode, done.stdout) == (confine.EXIT_UNCONFINED, "")


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

    assert (done.returncode, done.stdout) == (confine.EXIT_UNCONFINED, "")
    assert done.stderr in {why, "Operation not supported", "Function not implemented"}


@pytest.mark.skipif(os.geteuid() != 0, reason="only root takes users of their own")
def test_every_job_of_root_has_a_user_of_its_own() -> None:
    first, second = own_uid(), own_uid()

    assert first is not None
    assert second is not None
    assert first != second
    assert min(first, second) >= 0x5000_0000
