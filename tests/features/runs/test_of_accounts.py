"""The runs of an account or key that has ended are cancelled, and no others."""

from collections.abc import AsyncGenerator

import pytest
from tests.features.runs.test_control import WAITING, Bench

from pegboard.core.principal import LOCAL, Principal
from pegboard.features.runs.of_accounts import RunsOfAccounts
from pegboard.storage import MemoryStorage

BOB = Principal(id="u_bob", user="u_bob", tenant="acme")
BOTS = Principal(
    id="u_bob", user="u_bob", tenant="acme", key="key_1", scopes=frozenset({"/tools:read"})
)
EVE = Principal(id="u_eve", user="u_eve", tenant="acme")
NAMESAKE = Principal(id="u_bob", tenant="acme")


@pytest.fixture
async def started() -> AsyncGenerator[Bench]:
    made = Bench(MemoryStorage())
    yield made
    await made.durability.close()


@pytest.mark.parametrize(
    ("key", "cancelled"),
    [
        pytest.param("", ["key_1", "waiting"], id="an account"),
        pytest.param("key_1", ["key_1"], id="a key"),
        pytest.param("key_2", [], id="another key"),
    ],
)
async def test_the_runs_of_what_has_ended_are_cancelled(
    started: Bench, key: str, cancelled: list[str]
) -> None:
    runs = {
        "waiting": await started.runs.start_graph(WAITING, principal=BOB),
        "key_1": await started.runs.start_graph(WAITING, principal=BOTS),
        "eve": await started.runs.start_graph(WAITING, principal=EVE),
        "namesake": await started.runs.start_graph(WAITING, principal=NAMESAKE),
    }
    for view in runs.values():
        await started.runs.wait(view.id, principal=LOCAL)

    await RunsOfAccounts(started.store, started.runs).cancel("u_bob", key, LOCAL)

    states: dict[str, str] = {}
    for name, view in runs.items():
        states[name] = (await started.runs.wait(view.id, principal=LOCAL)).result.state.value
    assert sorted(name for name, state in states.items() if state == "cancelled") == cancelled
