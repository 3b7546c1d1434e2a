"""Sources that do what their tests say, and a board that shows what came of it."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from pydantic import BaseModel

from pegboard.core.event import Event
from pegboard.core.health import HEALTHY, Health
from pegboard.core.ports.services import Services
from pegboard.core.ports.source import Source, SourceKind
from pegboard.core.resources_and_prompts import Prompt, PromptSpec, Resource
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import SourceUnavailable
from pegboard.execution.emitter import Emitter
from pegboard.runtime.sources.refresher import SourceRefresher
from pegboard.runtime.sources.state import Opener, SourceState
from pegboard.runtime.sources.supervisor import SourceSupervisor
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


def tool(name: str) -> Tool:
    async def run(arguments: Any, ctx: Any) -> str:
        return name

    return SchemaTool(spec=ToolSpec(name=name, input_schema={"type": "object"}), run=run)


async def two() -> Sequence[Tool]:
    return [tool("a__one"), tool("a__two")]


async def hang() -> Sequence[Tool]:
    await asyncio.sleep(3600)
    return []


async def die() -> Sequence[Tool]:
    raise SourceUnavailable("the server is down; start it")


async def break_down() -> Sequence[Tool]:
    raise ValueError("unexpected")


def state_of(source: Steered) -> SourceState:
    async def open_it(name: str, config: Any, services: Services) -> Source:
        return source

    kind = SourceKind(kind="steered", title="Steered", config=NoConfig, open=open_it)
    opener = Opener(kind=kind, config=NoConfig())
    return SourceState(name=source.name, kind="steered", opener=opener)


class Board:
    """A source set, and what it has put on the board."""

    def __init__(
        self, *, timeout: float = 0.2, patience: float | None = None, retry: float = 5.0
    ) -> None:
        self.heard = Heard()
        self.listed: dict[str, tuple[str, ...]] = {}
        self.offered: dict[str, tuple[str, ...]] = {}
        self.updates: list[tuple[str, str]] = []
        self.set = SourceSupervisor(
            SourceRefresher(
                Services(), timeout=timeout, listed=self, emitter=Emitter([self.heard])
            ),
            patience=patience,
            retry=retry,
            jitter=lambda: 0.0,
        )

    async def publish_tools(self, state: SourceState, tools: Sequence[Tool]) -> str:
        self.listed[state.name] = tuple(tool.spec.name for tool in tools)
        state.tools = tuple(tools)
        return ""

    def publish_offers(
        self, state: SourceState, resources: Sequence[Resource], prompts: Sequence[Prompt]
    ) -> None:
        self.offered[state.name] = tuple(item.spec.name for item in (*resources, *prompts))

    def notify_updated(self, state: SourceState, uri: str) -> None:
        self.updates.append((state.name, uri))


class Greeting:
    spec = PromptSpec(name="a__greet")

    async def fill(self, arguments: Any, ctx: Any) -> Any:
        raise NotImplementedError


class Offering(Steered):
    """A source that has prompts too."""

    def __init__(self, name: str, prompts: Callable[[], Awaitable[Sequence[Prompt]]]) -> None:
        super().__init__(name, two)
        self._prompts = prompts
        self.notify: Callable[[str], None] | None = None

    async def resources(self) -> Sequence[Resource]:
        return []

    async def prompts(self) -> Sequence[Prompt]:
        return await self._prompts()

    def on_update(self, notify: Callable[[str], None]) -> None:
        self.notify = notify


async def one_prompt() -> Sequence[Prompt]:
    return [Greeting()]


async def hung_prompts() -> Sequence[Prompt]:
    await asyncio.sleep(60)
    return []


async def dead_prompts() -> Sequence[Prompt]:
    raise SourceUnavailable("gone")


async def broken_prompts() -> Sequence[Prompt]:
    raise ValueError("secret")
