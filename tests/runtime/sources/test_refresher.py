"""One source is asked: what it has, how it is, and what it does wrong."""

import asyncio
import re
from collections.abc import Sequence
from typing import Any

import pytest
from tests.execution.made import virtually
from tests.runtime.steered import (
    Board,
    NoConfig,
    Offering,
    Steered,
    break_down,
    broken_prompts,
    dead_prompts,
    die,
    hang,
    hung_prompts,
    one_prompt,
    state_of,
    two,
)

from pegboard.core.event import SourceChanged
from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source, SourceKind
from pegboard.core.resources_and_prompts import Resource
from pegboard.core.tool import Tool
from pegboard.errors import SourceUnavailable
from pegboard.runtime.sources.state import Opener, SourceState
from pegboard.testing import FakeClock


@virtually
async def test_a_hung_a_dead_and_a_broken_source_stop_nobody(clock: FakeClock) -> None:
    board = Board(timeout=0.2)
    sources = [
        Steered("hung", hang),
        Steered("dead", die),
        Steered("broken", break_down),
        Steered("a", two),
    ]

    started = clock.monotonic()
    await board.set.open([state_of(source) for source in sources])
    took = clock.monotonic() - started
    await board.set.close()

    assert board.listed == {"a": ("a__one", "a__two")}
    assert took == pytest.approx(0.2)
    assert {name: state.reason for name, state in board.set.states.items()} == {
        "hung": "no answer within 0.2 s",
        "dead": "the server is down; start it",
        "broken": "it failed (ValueError); the log says why",
        "a": "",
    }
    assert [state.name for state in board.set.states.values() if state.is_logged] == ["broken"]
    assert [state.name for state in board.set.states.values() if state.refreshed_at] == ["a"]


async def test_the_log_is_told_where_the_code_of_a_source_failed() -> None:
    board = Board(timeout=0.2)

    await board.set.open([state_of(Steered("broken", break_down)), state_of(Steered("dead", die))])
    await board.set.close()

    changes = [event for event in board.heard.events if isinstance(event, SourceChanged)]
    stacks = {event.source: event.stack for event in changes}
    assert "in break_down" in stacks["broken"]
    assert stacks["dead"] == ""


@virtually
async def test_health_is_asked_within_a_deadline(clock: FakeClock) -> None:
    class Silent(Steered):
        async def health(self) -> Health:
            await asyncio.sleep(3600)
            return HEALTHY

    board = Board(timeout=0.1)
    await board.set.open(
        [state_of(Silent("s", two)), state_of(Steered("a", two)), state_of(Steered("d", die))]
    )

    answers = {name: await board.set.health(board.set.states[name]) for name in ("s", "a")}
    await board.set.close()

    assert answers["a"] == HEALTHY
    assert answers["s"].status is HealthStatus.UNHEALTHY
    assert (await board.set.health(board.set.states["a"])).status is HealthStatus.UNHEALTHY


async def test_a_health_check_that_fails_is_told_and_harms_nobody() -> None:
    class Broken(Steered):
        async def health(self) -> Health:
            raise ValueError("the password is hunter2")

    board = Board()
    await board.set.open([state_of(Broken("b", two))])

    health = await board.set.health(board.set.states["b"])
    await board.set.close()

    assert health.status is HealthStatus.UNHEALTHY
    assert health.reason == "its health check failed (ValueError); the log says why"


async def test_a_source_is_opened_once_although_two_ask_at_once() -> None:
    opened: list[Steered] = []

    async def open_it(name: str, config: Any, services: Services) -> Source:
        await asyncio.sleep(0.01)
        source = Steered(name, two)
        opened.append(source)
        return source

    kind = SourceKind(kind="steered", title="Steered", config=NoConfig, open=open_it)
    state = SourceState(name="a", kind="steered", opener=Opener(kind=kind, config=NoConfig()))
    board = Board()
    board.set.states["a"] = state

    async with asyncio.TaskGroup() as group:
        group.create_task(board.set.refresh("a"))
        group.create_task(board.set.refresh("a"))
    await board.set.close()

    assert [source.closed for source in opened] == [1]


async def test_prompts_are_listed_beside_the_tools_and_updates_are_told() -> None:
    board = Board()
    source = Offering("a", one_prompt)

    await board.set.open([state_of(source)])
    assert source.notify is not None
    source.notify("docs://a")
    await board.set.close()

    assert (board.listed["a"], board.offered["a"]) == (("a__one", "a__two"), ("a__greet",))
    assert board.updates == [("a", "docs://a")]


@pytest.mark.parametrize(
    ("prompts", "reason"),
    [
        (hung_prompts, r"its prompts: no answer within 0\.2 s"),
        (dead_prompts, "its prompts: gone"),
        (broken_prompts, r"its prompts failed \(ValueError\)"),
    ],
    ids=["hung", "dead", "broken"],
)
@virtually
async def test_prompts_that_cannot_be_listed_leave_the_tools(
    clock: FakeClock, prompts: Any, reason: str
) -> None:
    board = Board()

    await board.set.open([state_of(Offering("a", prompts))])
    state = board.set.states["a"]
    await board.set.close()

    assert board.listed["a"] == ("a__one", "a__two")
    assert state.status == "degraded"
    assert re.search(reason, state.reason)


async def test_resources_that_cannot_be_listed_leave_the_prompts() -> None:
    class WithoutResources(Offering):
        async def resources(self) -> Sequence[Resource]:
            raise SourceUnavailable("the disk is full")

    board = Board()

    await board.set.open([state_of(WithoutResources("a", one_prompt))])
    state = board.set.states["a"]
    await board.set.close()

    assert board.offered["a"] == ("a__greet",)
    assert (state.status, state.reason) == ("degraded", "its resources: the disk is full")


async def test_a_source_whose_reason_is_in_the_log_is_marked_until_it_is_well() -> None:
    answers: list[Exception | None] = [SourceUnavailable("look there", is_logged=True), None]

    async def tools() -> Sequence[Tool]:
        if error := answers.pop(0):
            raise error
        return await two()

    board = Board()
    await board.set.open([state_of(Steered("a", tools))])
    state = board.set.states["a"]
    marks = [state.is_logged]
    await board.set.refresh("a")
    marks.append(state.is_logged)
    await board.set.close()

    assert marks == [True, False]
