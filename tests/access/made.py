"""Specs, policies and callers for the tests of access, and how Hypothesis draws them."""

from typing import Any

from hypothesis import strategies as st

from pegboard.access import Policy, Switches
from pegboard.core.decision import Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, Status, ToolSpec

EMPTY = {"type": "object", "properties": {}, "additionalProperties": False}
ADA = Principal(id="ada", tenant="acme", scopes=frozenset({"orders"}))

NAMES = st.sampled_from(["shop__find", "shop__refund", "crm__find", "wipe", "note"])
GLOBS = st.sampled_from(["*", "shop__*", "*find", "wipe", "n?te", "[sc]*", "nobody"])
REASONS = st.sampled_from(["", "no key", "gone"])
SCOPES = st.sampled_from(["orders", "admin"])
PRINCIPALS = st.builds(
    Principal,
    id=st.sampled_from(["ada", "bob"]),
    scopes=st.frozensets(st.sampled_from(["orders", "admin", "*"]), max_size=2),
)
SPECS = st.builds(
    ToolSpec,
    name=NAMES,
    registered_name=st.just("") | NAMES,
    input_schema=st.just(EMPTY),
    effect=st.sampled_from(Effect),
    status=st.sampled_from(Status),
    source=st.sampled_from(["", "shop", "crm"]),
    scopes=st.lists(SCOPES, max_size=2, unique=True).map(tuple),
    unavailable=REASONS,
)
RULES = st.lists(GLOBS, max_size=2).map(tuple)
POLICIES = st.builds(
    Policy,
    deny=RULES,
    ask=RULES,
    allow=RULES,
    effects=st.dictionaries(st.sampled_from(Effect), st.sampled_from(Verdict)),
)


@st.composite
def switches(draw: st.DrawFn) -> Switches:
    """Kill switches in some position."""
    made = Switches()
    for name in draw(st.lists(NAMES, max_size=1)):
        made.turn_off(tool=name)
    for source in draw(st.lists(st.sampled_from(["shop", "crm"]), max_size=1)):
        made.turn_off(source=source)
    if draw(st.booleans()):
        made.turn_off(writes=True)
    return made


def a_spec(name: str = "shop__find", **changes: Any) -> ToolSpec:
    """A tool that reads."""
    fields: dict[str, Any] = {"effect": Effect.READ, "source": "shop", "input_schema": EMPTY}
    return ToolSpec(name=name, **(fields | changes))
