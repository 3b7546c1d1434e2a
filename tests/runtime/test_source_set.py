import asyncio
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest
from pydantic import BaseModel

from pegboard.core.event import Event, SourceChanged
from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.offers import Prompt, PromptSpec, Resource
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source, SourceKind
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import SourceUnavailable
from pegboard.execution.emitter import Emitter
from pegboard.runtime.source_set import SourceSet
from pegboard.runtime.source_state import Opener, SourceState
from pegboard.tools import SchemaTool


class NoConfig(BaseModel):
    pass


class Heard:
    def __init__(self) -> None:
        self.events: list[Event] = []

    def on_event(self, event: Event) -> None:
        self.events.append(event)


class Steered:
    """A source that does what its test says."""

    def __init__(self, name: str, behave: Callable[[], Awaitable[Sequence[Tool]]]) -> None:
        self.name = name
        self.behave = behave
        self.closed = 0
        self.changed: Callable[[], None] | None = None

    async def tools(self) -> Sequence[Tool]:
        return await self.behave()

    async def health(self) -> Health:
        return HEALTHY

    async def close(self) -> None:
        self.closed += 1

    def on_change(self, notify: Callable[[], None]) -> None:
        self.changed = notify


def _tool(name: str) -> Tool:
    async def run(arguments: Any, ctx: Any) -> str:
        return name

    return SchemaTool(spec=ToolSpec(name=name, input_schema={"type": "object"}), run=run)


async def _two() -> Sequence[Tool]:
    return [_tool("a__one"), _tool("a__two")]


async def _hang() -> Sequence[Tool]:
    await asyncio.sleep(3600)
    return []


async def _die() -> Sequence[Tool]:
    raise SourceUnavailable("the server is down; start it")


async def _break() -> Sequence[Tool]:
    raise ValueError("unexpected")


def _state(source: Steered) -> SourceState:
    async def open_it(name: str, config: Any, services: Services) -> Source:
        return source

    kind = SourceKind(kind="steered", title="Steered", config=NoConfig, open=open_it)
    opener = Opener(kind=kind, config=NoConfig())
    return SourceState(name=source.name, kind="steered", opener=opener)


class Board:
    """A source set, and what it has put on the board."""

    def __init__(self, *, timeout: float = 0.2, patience: float | None = None) -> None:
        self.heard = Heard()
        self.listed: dict[str, tuple[str, ...]] = {}
        self.offered: dict[str, tuple[str, ...]] = {}
        self.updates: list[tuple[str, str]] = []
        self.set = SourceSet(
            Services(),
            timeout=timeout,
            patience=patience,
            listed=self,
            emitter=Emitter([self.heard]),
            jitter=lambda: 0.0,
        )

    async def tools(self, state: SourceState, tools: Sequence[Tool]) -> str:
        self.listed[state.name] = tuple(tool.spec.name for tool in tools)
        state.tools = tuple(tools)
        return ""

    def offers(
        self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
    ) -> None:
        self.offered[state.name] = tuple(item.spec.name for item in (*resources, *prompts))

    def updated(self, state: SourceState, uri: str) -> None:
        self.updates.append((state.name, uri))


async def test_a_source_is_opened_and_listed() -> None:
    board = Board()
    source = Steered("a", _two)

    await board.set.open([_state(source)])
    await board.set.close()

    assert board.listed == {"a": ("a__one", "a__two")}
    assert board.heard.events == [SourceChanged(source="a", status="ok", tools=2)]
    assert source.closed == 1


async def test_a_hung_a_dead_and_a_broken_source_stop_nobody() -> None:
    board = Board(timeout=0.2)
    sources = [
        Steered("hung", _hang),
        Steered("dead", _die),
        Steered("broken", _break),
        Steered("a", _two),
    ]

    started = asyncio.get_running_loop().time()
    await board.set.open([_state(source) for source in sources])
    took = asyncio.get_running_loop().time() - started
    await board.set.close()

    assert board.listed == {"a": ("a__one", "a__two")}
    assert took < 2
    assert {name: state.reason for name, state in board.set.states.items()} == {
        "hung": "no answer within 0.2 s",
        "dead": "the server is down; start it",
        "broken": "it failed (ValueError); the log says why",
        "a": "",
    }


async def test_a_source_that_hangs_while_closing_stops_nobody() -> None:
    class Clinging(Steered):
        async def close(self) -> None:
            await asyncio.sleep(3600)

    board = Board(timeout=0.1)
    clinging, well = Clinging("c", _two), Steered("a", _two)
    await board.set.open([_state(clinging), _state(well)])

    await board.set.close()

    assert well.closed == 1
    assert "did not close" in board.set.states["c"].reason


async def test_a_cancelled_closing_leaves_no_task() -> None:
    class Clinging(Steered):
        async def close(self) -> None:
            await asyncio.sleep(3600)

    board = Board(timeout=60)
    await board.set.open([_state(Clinging("c", _two))])
    closing = asyncio.create_task(board.set.close())
    await asyncio.sleep(0.05)

    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_one_that_cannot_be_opened_is_told_and_waited_for_by_nobody() -> None:
    board = Board()

    await board.set.open([SourceState(name="x", kind="x", status="failed", reason="pip install")])
    await board.set.refresh("x")
    await board.set.settled()
    health = await board.set.health(board.set.states["x"])
    await board.set.close()

    told = SourceChanged(source="x", status="failed", reason="pip install")
    assert board.heard.events == [told, told]
    assert health == Health(status=HealthStatus.UNHEALTHY, reason="pip install")


async def test_opening_goes_on_without_slow_ones_which_come_later() -> None:
    answers = asyncio.Event()

    async def late() -> Sequence[Tool]:
        await answers.wait()
        return await _two()

    board = Board(timeout=30, patience=0.02)
    await board.set.open([_state(Steered("a", late)), _state(Steered("b", _two))])
    state = board.set.states["a"]
    early = (state.status, set(board.listed), state.listed.is_set())
    health = await board.set.health(state)
    answers.set()
    await board.set.settled()
    late_status = (state.status, set(board.listed), state.listed.is_set())
    await board.set.close()

    assert early == ("pending", {"b"}, False)
    assert health == Health(status=HealthStatus.UNKNOWN, reason="it has not answered yet")
    assert late_status == ("ok", {"a", "b"}, True)


async def test_a_source_that_has_its_tools_is_listed_before_its_prompts_are() -> None:
    board = Board(timeout=30, patience=0.05)

    await board.set.open([_state(Offering("a", _hung_prompts))])
    state = board.set.states["a"]
    known = (state.status, state.listed.is_set(), state.settled.is_set())
    await board.set.close()

    assert known == ("ok", True, False)


async def test_a_change_is_followed() -> None:
    answers = [[_tool("a__one")], [_tool("a__one"), _tool("a__new")]]

    async def behave() -> Sequence[Tool]:
        return answers.pop(0) if len(answers) > 1 else answers[0]

    board = Board()
    source = Steered("a", behave)
    await board.set.open([_state(source)])
    assert source.changed is not None

    await asyncio.to_thread(source.changed)
    for _ in range(100):
        await asyncio.sleep(0.01)
        if board.listed["a"] == ("a__one", "a__new"):
            break
    await board.set.close()

    assert board.listed["a"] == ("a__one", "a__new")


async def test_what_fails_later_keeps_its_tools_and_is_degraded() -> None:
    behaviours: list[Callable[[], Awaitable[Sequence[Tool]]]] = [_two, _die]
    source = Steered("a", lambda: behaviours.pop(0)())  # noqa: PLW0108 - taken anew each time
    board = Board()
    await board.set.open([_state(source)])

    await board.set.refresh("a")
    state = board.set.states["a"]
    await board.set.close()

    assert (state.status, state.reason) == ("degraded", "the server is down; start it")
    assert len(state.tools) == 2
    assert board.listed["a"] == ("a__one", "a__two")


async def test_a_failed_source_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard.runtime.source_set._FIRST_RETRY", 0.02)
    behaviours: list[Callable[[], Awaitable[Sequence[Tool]]]] = [_die, _die, _two]
    source = Steered("a", lambda: (behaviours.pop(0) if behaviours else _two)())  # noqa: PLW0108 - taken anew
    board = Board()

    await board.set.open([_state(source)])
    for _ in range(200):
        await asyncio.sleep(0.01)
        if "a" in board.listed:
            break
    await board.set.close()

    assert board.listed == {"a": ("a__one", "a__two")}


async def test_health_is_asked_within_a_deadline() -> None:
    class Silent(Steered):
        async def health(self) -> Health:
            await asyncio.sleep(3600)
            return HEALTHY

    board = Board(timeout=0.1)
    await board.set.open(
        [_state(Silent("s", _two)), _state(Steered("a", _two)), _state(Steered("d", _die))]
    )

    answers = {name: await board.set.health(board.set.states[name]) for name in ("s", "a")}
    await board.set.close()

    assert answers["a"] == HEALTHY
    assert answers["s"].status is HealthStatus.UNHEALTHY
    assert (await board.set.health(board.set.states["a"])).status is HealthStatus.UNHEALTHY


async def test_a_dropped_source_is_closed_and_forgotten() -> None:
    board = Board()
    source = Steered("a", _two)
    await board.set.open([_state(source)])

    await board.set.drop("a")

    assert source.closed == 1
    assert board.set.states == {}
    await board.set.close()


async def test_a_cancelled_opening_leaves_no_task() -> None:
    board = Board(timeout=60)
    opening = asyncio.create_task(board.set.open([_state(Steered("hung", _hang))]))
    await asyncio.sleep(0.05)

    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening

    assert asyncio.all_tasks() == {asyncio.current_task()}


async def test_a_health_check_that_fails_is_told_and_harms_nobody() -> None:
    class Broken(Steered):
        async def health(self) -> Health:
            raise ValueError("the password is hunter2")

    board = Board()
    await board.set.open([_state(Broken("b", _two))])

    health = await board.set.health(board.set.states["b"])
    await board.set.close()

    assert health.status is HealthStatus.UNHEALTHY
    assert health.reason == "its health check failed (ValueError); the log says why"


async def test_a_source_is_opened_once_although_two_ask_at_once() -> None:
    opened: list[Steered] = []

    async def open_it(name: str, config: Any, services: Services) -> Source:
        await asyncio.sleep(0.01)
        source = Steered(name, _two)
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


class _Greeting:
    spec = PromptSpec(name="a__greet")

    async def fill(self, arguments: Any, ctx: Any) -> Any:
        raise NotImplementedError


class Offering(Steered):
    """A source that has prompts too."""

    def __init__(self, name: str, prompts: Callable[[], Awaitable[Sequence[Prompt]]]) -> None:
        super().__init__(name, _two)
        self._prompts = prompts
        self.notify: Callable[[str], None] | None = None

    async def resources(self) -> Sequence[Resource]:
        return []

    async def prompts(self) -> Sequence[Prompt]:
        return await self._prompts()

    def on_update(self, notify: Callable[[str], None]) -> None:
        self.notify = notify


async def _one_prompt() -> Sequence[Prompt]:
    return [_Greeting()]


async def _hung_prompts() -> Sequence[Prompt]:
    await asyncio.sleep(60)
    return []


async def _dead_prompts() -> Sequence[Prompt]:
    raise SourceUnavailable("gone")


async def _broken_prompts() -> Sequence[Prompt]:
    raise ValueError("secret")


async def test_prompts_are_listed_beside_the_tools_and_updates_are_told() -> None:
    board = Board()
    source = Offering("a", _one_prompt)

    await board.set.open([_state(source)])
    assert source.notify is not None
    source.notify("docs://a")
    await board.set.close()

    assert (board.listed["a"], board.offered["a"]) == (("a__one", "a__two"), ("a__greet",))
    assert board.updates == [("a", "docs://a")]


@pytest.mark.parametrize(
    ("prompts", "reason"),
    [
        (_hung_prompts, r"its resources and prompts: no answer within 0\.2 s"),
        (_dead_prompts, "its resources and prompts: gone"),
        (_broken_prompts, r"its resources and prompts failed \(ValueError\)"),
    ],
    ids=["hung", "dead", "broken"],
)
async def test_prompts_that_cannot_be_listed_leave_the_tools(prompts: Any, reason: str) -> None:
    board = Board()

    await board.set.open([_state(Offering("a", prompts))])
    state = board.set.states["a"]
    await board.set.close()

    assert board.listed["a"] == ("a__one", "a__two")
    assert state.status == "degraded"
    assert re.search(reason, state.reason)
