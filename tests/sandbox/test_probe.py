"""The probe sees each kind of hole: it is run against back ends with one wall left out."""

import dataclasses
import os
import re
from typing import Any

import pytest

from pegboard.core.ports.sandbox import SandboxJob
from pegboard.sandbox import BACK_ENDS
from pegboard.sandbox.backend import BackEnd, JobUser
from pegboard.sandbox.landlock import Landlock
from pegboard.sandbox.probe import why_not
from pegboard.sandbox.seccomp import AF_INET, AF_UNIX, FilterRules


@pytest.fixture
async def landlock() -> Landlock:
    """Skips where Landlock does not hold: then there is no wall to leave out."""
    back_end = Landlock()
    reason = await why_not(back_end)
    if reason:
        pytest.skip(reason)
    return back_end


class _WithoutFileRules(Landlock):
    def landlock(self, job: SandboxJob, user: JobUser, /) -> dict[str, Any] | None:
        rules = super().landlock(job, user)
        return (
            None
            if rules is None
            else {**rules, "files": False, "read": [], "write": [], "devices": []}
        )


class _WithSockets(Landlock):
    def rules(self, job: SandboxJob, user: JobUser, /) -> FilterRules:
        return dataclasses.replace(super().rules(job, user), families=(AF_UNIX, AF_INET))


class _AsOurUser(Landlock):
    def rules(self, job: SandboxJob, user: JobUser, /) -> FilterRules:
        return dataclasses.replace(super().rules(job, user), owns_others=False)

    def orders(self, job: SandboxJob, user: JobUser) -> dict[str, Any]:
        return {**super().orders(job, user), "uid": None}


class _ThatTellsMore(Landlock):
    def orders(self, job: SandboxJob, user: JobUser) -> dict[str, Any]:
        orders = super().orders(job, user)
        return {**orders, "environment": {**orders["environment"], "SECRET": "x"}}


@pytest.mark.parametrize(
    ("leaky", "holes"),
    [
        (_WithoutFileRules(), ("it reads files outside", "it reads the machine")),
        (_WithSockets(), ("it sends UDP", "it reaches sockets in the file system")),
        (_ThatTellsMore(), ("it sees variables it was not given",)),
    ],
    ids=["files", "sockets", "environment"],
)
async def test_a_missing_wall_is_noticed(
    landlock: Landlock, leaky: BackEnd, holes: tuple[str, ...]
) -> None:
    reason = await why_not(leaky)

    assert reason.startswith("it failed its probe: ")
    assert [hole for hole in holes if hole not in reason] == []


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can be another user")
async def test_a_command_that_stays_our_user_is_noticed(landlock: Landlock) -> None:
    reason = await why_not(_AsOurUser())

    assert "it changes modes of files outside" in reason
    assert "it changed a file outside" in reason


async def test_a_back_end_that_withstands_has_no_reason_against_it(landlock: Landlock) -> None:
    assert await why_not(landlock, network=True) == ""


class _Lacking(Landlock):
    def lacks(self) -> str:
        return "it lacks something; install it"


class _Broken(Landlock):
    def walls(self, _job: SandboxJob, _user: JobUser, /) -> list[str]:
        return ["/bin/sh", "-c", "echo no walls today >&2; exit 1"]


class _Silent(Landlock):
    def orders(self, job: SandboxJob, user: JobUser) -> dict[str, Any]:
        return {**super().orders(job, user), "command": ["/bin/sh", "-c", "echo odd >&2"]}


class _Unreachable(Landlock):
    def walls(self, _job: SandboxJob, _user: JobUser, /) -> list[str]:
        return ["/no/such/program"]


@pytest.mark.parametrize(
    ("back_end", "reason"),
    [
        (_Lacking(), "it lacks something; install it"),
        (_Broken(), "it cannot be set up here: no walls today"),
        (_Unreachable(), "it cannot be set up here: .*No such file.*"),
    ],
    ids=["lacking", "broken", "unreachable"],
)
async def test_what_cannot_be_set_up_says_why(back_end: BackEnd, reason: str) -> None:
    found = await why_not(back_end)

    assert re.fullmatch(reason, found)


async def test_a_probe_without_an_answer_counts_as_failed(landlock: Landlock) -> None:
    assert await why_not(_Silent()) == "it failed its probe: the probe gave no answer (odd)"


def test_the_stronger_back_end_comes_first() -> None:
    assert [item.name for item in BACK_ENDS] == ["bubblewrap", "landlock"]
