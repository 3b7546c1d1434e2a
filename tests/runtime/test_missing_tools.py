import asyncio

import pytest

from pegboard.runtime.missing_tools import MissingTools
from pegboard.runtime.sources.state import Opener, SourceState
from pegboard.sources.builtin import KIND as BUILTIN

STATES = {
    name: SourceState(name=name, kind="sql", status=status, reason=reason)
    for name, status, reason in (("up", "ok", ""), ("down", "failed", "nobody answers"))
}


@pytest.mark.parametrize(
    ("name", "owner", "why"),
    [
        ("up__x", "up", ""),
        ("down__x", "down", "its source 'down' failed: nobody answers"),
        ("nobody__x", "", ""),
        ("board__read_result", "board", ""),
        ("plain", "", ""),
    ],
)
async def test_a_name_is_answered_for_by_its_source(name: str, owner: str, why: str) -> None:
    absent = MissingTools(STATES)

    assert (absent.owner(name), absent.why(name)) == (owner, why)


async def test_what_is_still_coming_can_be_waited_for_and_is_wanted() -> None:
    state = SourceState(name="slow", kind="sql")
    absent = MissingTools({"slow": state})

    assert absent.coming("slow__x") is state.listed
    assert state.wanted.is_set()
    assert absent.coming("other__x") is None
    state.listed.set()
    assert absent.coming("slow__x") is None


async def test_another_loop_does_not_wait_for_it() -> None:
    absent = MissingTools({"slow": SourceState(name="slow", kind="sql")})

    async def elsewhere() -> asyncio.Event | None:
        return absent.coming("slow__x")

    assert await asyncio.to_thread(lambda: asyncio.run(elsewhere())) is None


async def test_a_plain_name_is_answered_for_by_the_source_whose_kind_has_it() -> None:
    opener = Opener(kind=BUILTIN, config=None)
    states = {
        "up": STATES["up"],
        "std": SourceState(
            name="std", kind="builtin", status="failed", reason="no room", opener=opener
        ),
    }
    absent = MissingTools(states)

    assert absent.why("calculator") == "its source 'std' failed: no room"
    assert absent.why("calculatr") == ""
    assert absent.owner("calculator") == ""  # free for a tool of one's own


async def test_a_plain_name_waits_for_the_source_that_has_it() -> None:
    state = SourceState(name="std", kind="builtin", opener=Opener(kind=BUILTIN, config=None))
    absent = MissingTools({"std": state})

    assert absent.coming("letter_counter") is None
    assert not state.wanted.is_set()
    assert absent.coming("calculator") is state.listed
    assert state.wanted.is_set()
