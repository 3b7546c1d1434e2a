"""Who did what to which tool, and which version it meant before."""

from collections.abc import AsyncGenerator
from typing import Any

import pytest
from tests.features.catalogue.test_service import service

from pegboard import ToolRegistry
from pegboard.core.event import BoardChanged, Event
from pegboard.core.principal import LOCAL, Principal
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.features.catalogue.audit_events import changes
from pegboard.features.permissions import CATALOGUE_SCOPE
from pegboard.storage import MemoryStorage

EVE = Principal(id="eve", tenant="acme", scopes=frozenset({CATALOGUE_SCOPE}))


class Heard:
    def __init__(self) -> None:
        self.told: list[tuple[str, str, str, dict[str, Any]]] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, BoardChanged):
            assert (event.kind, event.tenant) == ("catalogue", "acme")
            self.told.append((event.by, event.action, event.subject, dict(event.detail)))


@pytest.fixture
async def storage() -> AsyncGenerator[MemoryStorage]:
    async with MemoryStorage() as opened:
        yield opened


async def test_each_change_says_who_and_from_which_version_to_which(storage: MemoryStorage) -> None:
    heard = Heard()
    catalogue = service(
        storage, ToolRegistry(environment=CallEnvironment(emitter=Emitter([heard])))
    )
    await catalogue.register([{"name": "greet", "description": "Hi."}], principal=EVE)
    again = {"name": "greet", "description": "Hi there.", "version": "1.1.0"}
    await catalogue.register([again], principal=EVE)
    await catalogue.roll_back("greet", "1.0.0", principal=EVE)
    await catalogue.deprecate("greet", "1.1.0", principal=EVE)
    await catalogue.remove("greet", principal=EVE)

    def versions(before: str, after: str) -> dict[str, Any]:
        return {"versions": {"greet": {"before": before, "after": after}}}

    assert heard.told == [
        ("eve", "registered", "greet", {"origin": "api"} | versions("", "1.0.0")),
        ("eve", "registered", "greet", {"origin": "api"} | versions("1.0.0", "1.1.0")),
        ("eve", "rolled_back", "greet", {"version": "1.0.0"} | versions("1.1.0", "1.0.0")),
        ("eve", "deprecated", "greet", {"version": "1.1.0"} | versions("1.0.0", "1.0.0")),
        ("eve", "removed", "greet", versions("1.0.0", "")),
    ]


def test_many_tools_are_told_of_in_several_events() -> None:
    names = {f"t{number}": "" for number in range(1_200)}
    told = list(changes("registered", names, names, principal=LOCAL, at=1.0, origin="bulk"))

    assert [len(event.detail["versions"]) for event in told] == [500, 500, 200]
    assert {event.subject for event in told} == {""}
