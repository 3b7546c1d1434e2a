"""Kill switches: who may throw them, what they do, and that other servers follow."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

import pytest

from pegboard import ToolRegistry, tool
from pegboard.core.event import BoardChanged, Event
from pegboard.core.ports.audit_store import AuditEntry
from pegboard.core.ports.kill_switch_store import Switch, SwitchKind
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import (
    AccessDenied,
    AuditUnavailable,
    InvalidRequest,
    SwitchNotFound,
    Unavailable,
)
from pegboard.features.kill_switches import KillSwitches
from pegboard.features.kill_switches.schemas import SwitchList, TurnWrites, switches_to_dict
from pegboard.features.kill_switches.service import MAX_SWITCHES
from pegboard.features.permissions import check_may_switch
from pegboard.storage import MemoryStorage

ON_CALL = Principal(id="ann", tenant="t", scopes=frozenset({"switches:write"}))
NOBODY = Principal(id="eve", tenant="t", scopes=frozenset({"catalogue:write"}))


@tool(effect="write")
def pay(amount: int) -> str:
    """Pay."""
    return f"paid {amount}"


@tool(effect="read")
def look() -> str:
    """Look."""
    return "seen"


class Server:
    """A registry and its switches, over a store that others may have too."""

    def __init__(self, storage: MemoryStorage) -> None:
        self.registry = ToolRegistry([pay, look])
        self.switches = KillSwitches(self.registry, storage.switches)
        self.events: list[BoardChanged] = []
        self.told: list[str] = []
        self.registry.environment.emitter.add(self)
        self.registry.changes.listen(lambda kind, _: self.told.append(kind))

    def on_event(self, event: Event) -> None:
        if isinstance(event, BoardChanged):
            self.events.append(event)

    async def call(self, name: str, **arguments: Any) -> str:
        result = await self.registry.call(name, arguments)
        return str(result.error) if result.error else result.text


@pytest.fixture
def storage() -> MemoryStorage:
    return MemoryStorage()


@pytest.fixture
def server(storage: MemoryStorage) -> Server:
    return Server(storage)


async def test_a_tool_is_off_from_the_next_call_on_and_on_again(server: Server) -> None:
    thrown = await server.switches.off("tool", "p*", reason="it pays twice", principal=ON_CALL)
    refused = await server.call("pay", amount=1)
    other = await server.call("look")
    listed = [item.spec.name for item in server.registry.visible()]
    back = await server.switches.on("tool", "p*", principal=ON_CALL)

    assert (thrown.switch.by, thrown.tools, thrown.is_off) == ("t/ann", 1, True)
    assert refused == "Access to 'pay' denied: it pays twice"
    assert other == "seen"
    assert listed == ["look"]
    assert (back.switch, back.is_off) == (thrown.switch, False)
    assert await server.call("pay", amount=1) == "paid 1"
    assert await server.switches.list(principal=LOCAL) == []


async def test_the_trail_and_whoever_lists_tools_are_told(server: Server) -> None:
    await server.switches.off("writes", reason="an incident", principal=ON_CALL)
    await server.switches.on("writes", principal=ON_CALL)

    assert [(e.kind, e.action, e.subject, e.by, e.tenant, e.detail) for e in server.events] == [
        ("switch", "turned_off", "all writes", "ann", "t", {"reason": "an incident"}),
        ("switch", "turned_on", "all writes", "ann", "t", {}),
    ]
    assert server.told == ["tools", "resources", "prompts"] * 2


async def test_another_server_follows_and_tells_nobody_again(
    server: Server, storage: MemoryStorage
) -> None:
    other = Server(storage)
    await server.switches.off("tool", "pay", principal=LOCAL)
    before = await other.call("pay", amount=2)
    await other.switches.load()
    after = await other.call("pay", amount=2)
    await other.switches.on("tool", "pay", principal=LOCAL)
    await server.switches.load()

    assert (before, after) == ("paid 2", "Access to 'pay' denied: turned off by the operator")
    assert [event.action for event in other.events] == ["turned_on"]
    assert await server.call("pay", amount=3) == "paid 3"


async def test_a_call_that_runs_is_not_cut(server: Server) -> None:
    begun, go_on = asyncio.Event(), asyncio.Event()

    @tool(effect="write")
    async def transfer() -> str:
        """Transfer."""
        begun.set()
        await go_on.wait()
        return "done"

    server.registry.add(transfer)
    running = asyncio.create_task(server.call("transfer"))
    await begun.wait()
    await server.switches.off("tool", "transfer", principal=LOCAL)
    refused = await server.call("transfer")
    go_on.set()

    assert await running == "done"
    assert "denied" in refused


@pytest.mark.parametrize(
    "use",
    [
        lambda switches: switches.list(principal=NOBODY),
        lambda switches: switches.off("writes", principal=NOBODY),
        lambda switches: switches.on("writes", principal=NOBODY),
    ],
    ids=["thrown", "off", "on"],
)
async def test_nobody_else_may(
    server: Server, use: Callable[[KillSwitches], Awaitable[Any]]
) -> None:
    with pytest.raises(AccessDenied, match="lacks the scope switches:write"):
        await use(server.switches)
    assert server.events == []
    check_may_switch(ON_CALL)


@pytest.mark.parametrize(
    ("kind", "name", "said"),
    [
        ("tool", "", "a glob such as"),
        ("tool", "shop find", "a glob such as"),
        ("tool", "pay\n", "a glob such as"),
        ("tool", "p" * 201, "a glob such as"),
        ("source", "shop*", "Give the name of a listed source"),
        ("writes", "pay", "takes no name"),
    ],
    ids=str,
)
async def test_what_cannot_be_the_name_of_anything_is_refused(
    server: Server, kind: SwitchKind, name: str, said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        await server.switches.off(kind, name, principal=LOCAL)
    with pytest.raises(InvalidRequest, match=said):
        await server.switches.on(kind, name, principal=LOCAL)


async def test_a_reason_has_a_bound(server: Server) -> None:
    with pytest.raises(InvalidRequest, match="at most 500"):
        await server.switches.off("tool", "pay", reason="x" * 501, principal=LOCAL)


async def test_there_is_a_most_of_them_and_what_is_off_can_be_said_anew(
    server: Server, storage: MemoryStorage
) -> None:
    for number in range(MAX_SWITCHES):
        await storage.switches.put(Switch(kind="tool", name=f"t{number}", reason="r", at=1.0))
    await server.switches.load()

    with pytest.raises(InvalidRequest, match="turn off the whole source"):
        await server.switches.off("tool", "pay", principal=LOCAL)
    assert (await server.switches.off("writes", principal=LOCAL)).is_off
    assert (
        await server.switches.off("tool", "t7", reason="why", principal=LOCAL)
    ).switch.reason == "why"


async def test_what_is_not_off_is_not_found_and_what_is_off_is_named(server: Server) -> None:
    with pytest.raises(SwitchNotFound, match=r"^Nothing is turned off as 'tool pay'\.$"):
        await server.switches.on("tool", "pay", principal=LOCAL)
    await server.switches.off("tool", "p*", principal=LOCAL)
    await server.switches.off("writes", principal=LOCAL)
    with pytest.raises(SwitchNotFound, match=r"Turned off: 'tool p\*', 'all writes'\.$"):
        await server.switches.on("tool", "pay", principal=LOCAL)


async def test_what_a_program_has_turned_off_is_listed_and_can_be_overruled(
    server: Server,
) -> None:
    server.registry.switches.turn_off(tool="pay", reason="by the program")
    server.registry.switches.turn_off(source="shop", writes=True)
    listed = switches_to_dict(await server.switches.list(principal=LOCAL))
    places: list[tuple[SwitchKind, str]] = [("tool", "pay"), ("source", "shop"), ("writes", "")]
    for kind, name in places:
        back = await server.switches.on(kind, name, principal=LOCAL)
        assert not back.is_stored

    SwitchList.model_validate(listed)
    assert [item["kind"] for item in listed["switches"]] == ["source", "tool", "writes"]
    own = listed["switches"][1]
    assert (own["kept"], own["at"], own["by"], own["tools"]) == (False, None, "", 1)
    assert await server.call("pay", amount=1) == "paid 1"


async def test_without_tools_nobody_knows_how_many_are_off(storage: MemoryStorage) -> None:
    switches = KillSwitches(ToolRegistry(), storage.switches)

    assert (await switches.off("source", "shop", principal=LOCAL)).tools is None


def test_all_writes_are_meant_without_a_name() -> None:
    assert TurnWrites(turn="off", kind="writes").name == ""


class SlowStore:
    """Reads what is there, and answers when it is let."""

    def __init__(self) -> None:
        self.inner = MemoryStorage().switches
        self.read = asyncio.Event()
        self.go_on = asyncio.Event()

    async def put(self, switch: Switch) -> None:
        await self.inner.put(switch)

    async def remove(self, kind: SwitchKind, name: str) -> bool:
        return await self.inner.remove(kind, name)

    async def switches(self) -> Sequence[Switch]:
        found = await self.inner.switches()
        self.read.set()
        await self.go_on.wait()
        return found


async def test_a_look_at_the_store_never_takes_back_what_was_thrown_meanwhile() -> None:
    store, registry = SlowStore(), ToolRegistry([pay])
    switches = KillSwitches(registry, store)
    looking = asyncio.create_task(switches.load())
    await store.read.wait()
    await switches.off("tool", "pay", principal=LOCAL)
    store.go_on.set()
    await looking

    assert (await registry.call("pay", {"amount": 1})).is_error


async def test_what_could_not_be_stored_is_not_off(server: Server, storage: MemoryStorage) -> None:
    await server.switches.off("tool", "look", principal=LOCAL)
    await storage.close()
    with pytest.raises(Unavailable):
        await server.switches.off("tool", "pay", principal=LOCAL)
    with pytest.raises(Unavailable):
        await server.switches.load()

    assert await server.call("pay", amount=1) == "paid 1"
    assert "denied" in await server.call("look")


async def test_only_turning_on_has_to_be_proved_first() -> None:
    proved: list[AuditEntry] = []

    async def prove(entry: AuditEntry) -> None:
        proved.append(entry)
        if len(proved) == 1:
            raise AuditUnavailable("the disk is full")

    registry = ToolRegistry([pay, look])
    switches = KillSwitches(registry, MemoryStorage().switches, prove=prove)
    await switches.off("tool", "pay", principal=ON_CALL)
    with pytest.raises(SwitchNotFound):
        await switches.on("tool", "look", principal=ON_CALL)
    assert proved == []
    with pytest.raises(AuditUnavailable):
        await switches.on("tool", "pay", principal=ON_CALL)
    assert (await registry.call("pay", {"amount": 1})).is_error
    await switches.on("tool", "pay", principal=ON_CALL)

    assert not (await registry.call("pay", {"amount": 1})).is_error
    assert [(item.kind, item.tenant, item.body) for item in proved] == [
        ("decision", "t", {"action": "turn_on", "subject": "tool pay", "by": "ann"})
    ] * 2
