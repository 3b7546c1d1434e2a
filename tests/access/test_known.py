import pytest

from pegboard.access import LOOKS_AFTER, Policy, Switches, may_know
from pegboard.core.principal import LOCAL, Principal
from pegboard.core.tool import Status, ToolSpec


@pytest.mark.parametrize(
    ("changes", "policy", "principal", "known"),
    [
        pytest.param({}, Policy(), LOCAL, True, id="one that can be used"),
        pytest.param({"unavailable": "no key"}, Policy(), LOCAL, True, id="unavailable"),
        pytest.param({"status": Status.DISABLED}, Policy(), LOCAL, True, id="disabled"),
        pytest.param({"unavailable": "x"}, Policy(deny=("t",)), LOCAL, False, id="denied"),
        pytest.param(
            {"unavailable": "x", "scopes": ("s",)}, Policy(), Principal(id="p"), False, id="scope"
        ),
    ],
)
def test_what_cannot_be_used_is_known_to_whoever_might_use_it(
    changes: dict[str, object], policy: Policy, principal: Principal, known: bool
) -> None:
    spec = ToolSpec(name="t", input_schema={"type": "object"}).changed(**changes)

    assert may_know(principal, spec, policy=policy, switches=Switches()) is known


@pytest.mark.parametrize(
    ("scopes", "changes", "policy", "known"),
    [
        pytest.param({LOOKS_AFTER}, {}, Policy(), True, id="who looks after the tools"),
        pytest.param({"switches:write"}, {}, Policy(), False, id="who throws switches"),
        pytest.param({LOOKS_AFTER}, {}, Policy(deny=("t",)), False, id="denied"),
        pytest.param({LOOKS_AFTER}, {"scopes": ("s",)}, Policy(), False, id="scope"),
    ],
)
def test_what_is_turned_off_is_known_to_whoever_looks_after_the_tools(
    scopes: set[str], changes: dict[str, object], policy: Policy, known: bool
) -> None:
    spec = ToolSpec(name="t", input_schema={"type": "object"}).changed(**changes)
    principal, switches = Principal(id="p", scopes=frozenset(scopes)), Switches()
    switches.turn_off(tool="t")

    assert may_know(principal, spec, policy=policy, switches=switches) is known
