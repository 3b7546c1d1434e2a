import asyncio
from typing import Any

import pytest
from tests.execution.made import virtually

from pegboard.core.ports.source import SourceKind
from pegboard.runtime.board_file.models import Board
from pegboard.runtime.patience import OWN, wait_for_sources
from pegboard.runtime.sources.state import Opener, SourceState
from pegboard.testing import FakeClock


def _state(*, remote: bool) -> SourceState:
    async def open_it(*_: Any) -> Any:
        raise NotImplementedError

    kind = SourceKind(kind="k", title="K", config=Board, open=open_it, remote=remote)
    return SourceState(name="a", kind="k", opener=Opener(kind=kind, config=Board()))


@pytest.mark.parametrize(
    ("remote", "patience", "least", "most"),
    [
        (True, 0.1, 0.1, 0.1 * OWN),
        (False, 0.1, 0.1 * OWN, 2),
        (True, 0, 0, 0.3),
        (False, 0, 0, 0.3),
    ],
    ids=["remote", "of this process", "remote without", "of this process without"],
)
@virtually
async def test_what_hangs_is_waited_for_no_longer_than_this(
    clock: FakeClock, remote: bool, patience: float, least: float, most: float
) -> None:
    hung = asyncio.create_task(asyncio.sleep(60))

    began = clock.monotonic()
    await wait_for_sources({hung: _state(remote=remote)}, patience=patience)
    took = clock.monotonic() - began

    assert not hung.done()
    assert least <= took + 0.01 < most
    hung.cancel()


@virtually
async def test_what_answers_is_not_waited_for_any_longer(clock: FakeClock) -> None:
    began = clock.monotonic()
    done = asyncio.create_task(asyncio.sleep(0.01))
    await wait_for_sources({done: _state(remote=False)}, patience=30)
    later = asyncio.create_task(asyncio.sleep(0.05))
    await wait_for_sources({later: _state(remote=True)}, patience=None)
    await wait_for_sources({}, patience=30)

    assert (done.done(), later.done()) == (True, True)
    assert clock.monotonic() - began < 2
