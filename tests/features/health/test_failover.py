"""Which tools stand in for others by themselves, and which never do."""

from typing import Any

import pytest

from pegboard import Policy, ToolRegistry
from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Effect, Status, Tool, ToolSpec
from pegboard.features.health import Replacements
from pegboard.features.health.failover import FailoverPolicy, FailoverSelector
from pegboard.tools import SchemaTool

PRICE = {"type": "object", "properties": {"kg": {"type": "number"}}, "additionalProperties": False}
EUROS = {"type": "object", "properties": {"euros": {"type": "number"}}, "required": ["euros"]}
TEXT = {"type": "object", "properties": {"euros": {"type": "string"}}, "required": ["euros"]}
APPLIES = FailoverPolicy(applies=True)


def priced(name: str, **changes: Any) -> Tool:
    async def run(arguments: Any, ctx: Any) -> Any:
        return {"euros": 1}

    fields: dict[str, Any] = {
        "input_schema": PRICE,
        "output_schema": EUROS,
        "capabilities": ("price",),
        "effect": Effect.READ,
    }
    return SchemaTool(spec=ToolSpec(name=name, **(fields | changes)), run=run)


def stands_in(
    before: Tool,
    *after: Tool,
    policy: FailoverPolicy = APPLIES,
    access: Policy | None = None,
    principal: Principal = LOCAL,
    names: tuple[str, ...] = (),
    **health: Health,
) -> str:
    registry = ToolRegistry([before, *after], policy=access or Policy())
    told = {f"{name}_v1": doing for name, doing in health.items()}
    replacements = Replacements(registry, health=lambda id_: told.get(id_, HEALTHY))
    replacements.refresh()
    registry.remove(before.spec.name)
    healing = FailoverSelector(registry, replacements, policy=lambda: policy)
    found = healing(names or (before.spec.name,), principal)
    return "" if found is None else f"{found.tool} for {found.instead_of}"


COURIER, POST = priced("courier"), priced("post")


def test_what_has_the_same_capability_and_schemas_stands_in() -> None:
    assert stands_in(COURIER, POST) == "post for courier"
    assert stands_in(COURIER, POST, names=("courier_v1",)) == "post for courier_v1"
    assert stands_in(COURIER, POST, names=("courier@1.0",)) == "post for courier@1.0"


def test_by_default_nothing_stands_in_by_itself() -> None:
    assert stands_in(COURIER, POST, policy=FailoverPolicy()) == ""


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        (FailoverPolicy(applies=True, tools=("cour*",)), "post for courier"),
        (FailoverPolicy(applies=True, tools=("other__*",)), ""),
        (FailoverPolicy(applies=True, effects=frozenset({Effect.WRITE})), ""),
    ],
    ids=["its glob", "another glob", "another effect"],
)
def test_the_policy_says_for_which_tools(policy: FailoverPolicy, found: str) -> None:
    assert stands_in(COURIER, POST, policy=policy) == found


@pytest.mark.parametrize(
    "after",
    [
        priced("post", capabilities=("weigh",)),
        priced("post", output_schema=TEXT),
        priced("post", output_schema=None),
        priced("post", input_schema={**PRICE, "required": ["kg"]}),
        priced("post", effect=Effect.WRITE),
        priced("post", status=Status.DEPRECATED),
        priced("post", unavailable="it lacks a key"),
        priced("post", scopes=("post",)),
    ],
    ids=["capability", "output", "no output", "input", "effect", "old", "unavailable", "scope"],
)
def test_what_is_not_the_same_or_may_not_be_called_never_stands_in(after: Tool) -> None:
    assert stands_in(COURIER, after, principal=Principal(id="eve")) == ""


def test_it_has_every_capability_that_the_tool_had() -> None:
    both = priced("courier", capabilities=("price", "track"))

    assert stands_in(both, POST) == ""
    assert stands_in(both, priced("post", capabilities=("track", "price"))) == "post for courier"


def test_of_what_promises_no_output_nothing_is_known_to_be_the_same() -> None:
    assert stands_in(priced("courier", output_schema=None), POST) == ""


@pytest.mark.parametrize(
    ("status", "found"),
    [
        (HealthStatus.UNKNOWN, "post for courier"),
        (HealthStatus.DEGRADED, ""),
        (HealthStatus.UNHEALTHY, ""),
    ],
)
def test_only_what_is_well_stands_in(status: HealthStatus, found: str) -> None:
    assert stands_in(COURIER, POST, post=Health(status=status)) == found


def test_the_next_best_stands_in_where_the_best_may_not() -> None:
    worse = priced("parcel", capabilities=("price", "weigh"))

    assert stands_in(COURIER, POST, worse, access=Policy(deny=("post",))) == "parcel for courier"


def test_what_was_tried_already_does_not_stand_in() -> None:
    assert stands_in(COURIER, POST, names=("courier", "post")) == ""
    assert stands_in(COURIER, POST, names=("courier", "post_v1")) == ""


def test_another_of_the_chain_is_replaced_when_the_first_cannot_be() -> None:
    assert stands_in(COURIER, POST, names=("unheard_of", "courier")) == "post for courier"


@pytest.mark.parametrize(
    ("ask", "found"),
    [
        (("courier",), ""),
        (("courier", "post"), "post for courier"),
        (("post",), "post for courier"),
    ],
    ids=["nobody would be asked", "both ask", "the stand-in asks"],
)
def test_where_a_person_was_asked_a_person_is_asked(ask: tuple[str, ...], found: str) -> None:
    assert stands_in(COURIER, POST, access=Policy(ask=ask)) == found


def stopped(
    policy: FailoverPolicy,
    *,
    principal: Principal = LOCAL,
    refused: tuple[str, ...] = (),
    access: Policy | None = None,
    **off: Any,
) -> str:
    """What stands in for a tool that is on the board, and perhaps turned off."""
    changes = {name: off.pop(name) for name in ("status", "scopes", "unavailable") if name in off}
    before = priced("courier", source="couriers", **changes)
    registry = ToolRegistry([before, POST], policy=access or Policy())
    if off:
        registry.environment.switches.turn_off(**off)
    replacements = Replacements(registry, health=lambda _: HEALTHY)
    healing = FailoverSelector(registry, replacements, policy=lambda: policy)
    found = healing(("courier",), principal, refused=refused)
    return "" if found is None else found.tool


EVEN_OFF = FailoverPolicy(applies=True, even_if=frozenset({"switched_off"}))
EVEN_DISABLED = FailoverPolicy(applies=True, even_if=frozenset({"disabled"}))
EVEN_STOPPED = FailoverPolicy(applies=True, even_if=frozenset({"switched_off", "disabled"}))


@pytest.mark.parametrize("off", [{"tool": "courier"}, {"tool": "c*"}, {"source": "couriers"}])
@pytest.mark.parametrize(
    ("policy", "found"), [(APPLIES, ""), (EVEN_DISABLED, ""), (EVEN_OFF, "post")]
)
def test_for_what_is_switched_off_another_stands_in_only_where_the_policy_says_so(
    off: dict[str, Any], policy: FailoverPolicy, found: str
) -> None:
    assert stopped(policy, refused=("courier",), **off) == found
    assert stopped(policy, principal=Principal(id="eve"), **off) == found


@pytest.mark.parametrize(
    ("policy", "found"), [(APPLIES, ""), (EVEN_OFF, ""), (EVEN_DISABLED, "post")]
)
def test_the_same_holds_of_what_is_disabled(policy: FailoverPolicy, found: str) -> None:
    assert stopped(policy, status=Status.DISABLED, refused=("courier",)) == found


@pytest.mark.parametrize(
    ("policy", "found"), [(EVEN_OFF, ""), (EVEN_DISABLED, ""), (EVEN_STOPPED, "post")]
)
def test_of_two_ways_in_which_it_is_stopped_the_policy_has_to_name_both(
    policy: FailoverPolicy, found: str
) -> None:
    assert stopped(policy, status=Status.DISABLED, tool="courier") == found


@pytest.mark.parametrize("broken", [{"status": Status.FAILED}, {"unavailable": "it lacks a key"}])
def test_what_does_not_work_was_stopped_by_nobody(broken: dict[str, Any]) -> None:
    assert stopped(APPLIES, **broken) == "post"


@pytest.mark.parametrize("off", [{}, {"tool": "courier"}], ids=["all writes", "and the tool"])
def test_where_all_writes_are_off_nothing_is_done_in_their_place(off: dict[str, Any]) -> None:
    writes = FailoverPolicy(
        applies=True,
        effects=frozenset({Effect.READ, Effect.WRITE}),
        even_if=frozenset({"switched_off", "disabled"}),
    )
    before = priced("courier", effect=Effect.WRITE)
    registry = ToolRegistry([before, POST])
    registry.environment.switches.turn_off(writes=True, **off)
    healing = FailoverSelector(
        registry, Replacements(registry, health=lambda _: HEALTHY), policy=lambda: writes
    )

    assert healing(("courier",), LOCAL) is None


def test_nothing_stands_in_for_what_this_caller_may_not_call() -> None:
    eve = Principal(id="eve")

    assert stopped(EVEN_OFF, access=Policy(deny=("courier",)), refused=("courier",)) == ""
    assert stopped(EVEN_OFF, principal=eve, scopes=("ship",), tool="courier") == ""
    assert stopped(EVEN_OFF, principal=eve, scopes=("ship",)) == ""


def test_what_refuses_by_itself_is_there() -> None:
    assert stopped(EVEN_OFF, refused=("courier",)) == ""
    assert stopped(EVEN_OFF) == "post"


@pytest.mark.parametrize(("policy", "found"), [(APPLIES, None), (EVEN_OFF, "post")])
def test_a_switch_holds_for_a_tool_that_is_gone_too(
    policy: FailoverPolicy, found: str | None
) -> None:
    registry = ToolRegistry([COURIER, POST])
    replacements = Replacements(registry, health=lambda _: HEALTHY)
    replacements.refresh()
    registry.remove("courier")
    registry.environment.switches.turn_off(tool="cour*")
    healing = FailoverSelector(registry, replacements, policy=lambda: policy)

    stand_in = healing(("courier@1.0",), LOCAL)
    assert (stand_in and stand_in.tool) == found


def test_what_was_refused_before_it_went_is_not_replaced() -> None:
    registry = ToolRegistry([COURIER, POST])
    replacements = Replacements(registry, health=lambda _: HEALTHY)
    replacements.refresh()
    registry.remove("courier")
    healing = FailoverSelector(registry, replacements, policy=lambda: APPLIES)

    assert healing(("courier",), LOCAL, refused=("courier",)) is None
