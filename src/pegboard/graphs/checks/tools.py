"""Whether the tools of a node are there, well, and for this caller to call."""

from collections.abc import Iterator

from pegboard.access import decide
from pegboard.core.decision import Action, Verdict
from pegboard.core.graph import Node
from pegboard.core.health import HealthStatus
from pegboard.core.tool import Status, Tool, ToolSpec
from pegboard.graphs.checks.data import input_faults
from pegboard.graphs.checks.faults import Fault
from pegboard.graphs.checks.type_inference import GraphTypes
from pegboard.graphs.tool_host import find_tool

_NOT_THERE = ("status.", "switch.")
_SAID = (Status.FAILED, Status.DISABLED)
"""States that the access check reports."""
_ANOTHER = " Another tool of this node will be tried."


def tool_faults(look: GraphTypes, node: Node, where: str) -> Iterator[Fault]:
    """Faults of each tool of a node, and of the input that it is given."""
    usable = [_is_usable(look, name) for name in node.tools]
    healed = _substitute_message(look, node) if not any(usable) else ""
    for place, name in enumerate(node.tools):
        is_main = place == 0 and bool(node.tool)
        number = place - bool(node.tool)
        at = f"{where}.tool" if is_main else f"{where}.fallbacks[{number}].tool"
        tool, missed = find_tool(look.terms.tools, name)
        if tool is None:
            yield _unknown(look, name, at, spare=_ANOTHER if any(usable) else healed)
            continue
        if missed:
            message = f"'{name}': there is version {tool.spec.version} alone."
            yield Fault(code="version_unknown", place=at, message=message)
        others = usable[:place] + usable[place + 1 :]
        spare = _ANOTHER if any(others) else healed
        yield from _access_faults(look, tool.spec, at, spare=spare)
        yield from _health_faults(look, tool.spec, at, spare=spare)
        given, given_at = node.input, f"{where}.input"
        own = None if is_main else node.fallbacks[number].input
        if own is not None:
            given, given_at = own, f"{where}.fallbacks[{number}].input"
        yield from input_faults(
            look, given, node, given_at, wanted=tool.spec.input_schema, name=tool.spec.name
        )


def _substitute_message(look: GraphTypes, node: Node) -> str:
    """The substitute that a run would use for a node's tools, as a sentence; empty for none."""
    stand_in = look.terms.heal and look.terms.heal(node.tools)
    return f" {stand_in.message} while it is away." if stand_in else ""


def _unknown(look: GraphTypes, name: str, at: str, *, spare: str) -> Fault:
    reason = look.terms.board.environment.why_missing(name)
    if reason or (spare and (spare != _ANOTHER or _was_there(look, name))):
        why = f": {reason.rstrip('.')}" if reason else ""
        message = f"'{name[:100]}' is unavailable{why}."
        return _unavailable_fault(look, "tool_unknown", at, message, name, spare)
    nearest = look.terms.board.nearest(name.partition("@")[0], look.terms.principal)
    hint = f" Did you mean {' or '.join(repr(item) for item in nearest)}?" if nearest else ""
    message = f"There is no tool '{name[:100]}'.{_instead(look, name) or hint}"
    return Fault(code="tool_unknown", place=at, message=message)


def _was_there(look: GraphTypes, name: str) -> bool:
    """Whether a missing tool existed before, so that its name is no mistake."""
    was_there, base = look.terms.was_there, name.partition("@")[0]
    return was_there is not None and was_there(base, look.terms.principal)


def _is_usable(look: GraphTypes, name: str) -> bool:
    if name not in look.usable:
        look.usable[name] = _can_be_used(look, name)
    return look.usable[name]


def _can_be_used(look: GraphTypes, name: str) -> bool:
    tool: Tool | None = find_tool(look.terms.tools, name)[0]
    if tool is None:
        return False
    faults = (*_access_faults(look, tool.spec, ""), *_health_faults(look, tool.spec, ""))
    return all(fault.is_note for fault in faults)


def _access_faults(
    look: GraphTypes, spec: ToolSpec, at: str, *, spare: str = ""
) -> Iterator[Fault]:
    kit = look.terms.board.environment
    decision = decide(
        look.terms.principal, spec, Action.CALL, policy=kit.policy, switches=kit.switches
    )
    if decision.verdict is Verdict.ASK:
        message = f"A person will be asked before '{spec.name}' runs: {decision.reason}."
        yield Fault(code="approval_needed", place=at, message=message, is_note=True)
    if decision.verdict is not Verdict.DENY:
        return
    if decision.rule.startswith(_NOT_THERE):
        message = f"'{spec.name}' cannot be called now: {decision.reason}."
        yield _unavailable_fault(look, "tool_unavailable", at, message, spec.name, spare)
    else:
        message = f"This caller may not call '{spec.name}': {decision.reason}."
        yield Fault(code="access_denied", place=at, message=message)


def _health_faults(
    look: GraphTypes, spec: ToolSpec, at: str, *, spare: str = ""
) -> Iterator[Fault]:
    if spec.status is Status.DEPRECATED:
        message = f"'{spec.name}' is deprecated and will go away."
        yield Fault(code="tool_deprecated", place=at, message=message, is_note=True)
    health = None if look.terms.health is None else look.terms.health(spec.name)
    if health is None or spec.unavailable or spec.status in _SAID:
        return
    reason = health.reason.rstrip(".") or "it says no more"
    if health.status is HealthStatus.UNHEALTHY:
        message = f"'{spec.name}' is unhealthy: {reason}."
        yield _unavailable_fault(look, "tool_unhealthy", at, message, spec.name, spare)
    elif health.status is HealthStatus.DEGRADED:
        message = f"'{spec.name}' is degraded: {reason}."
        yield Fault(code="tool_degraded", place=at, message=message, is_note=True)


def _instead(look: GraphTypes, name: str) -> str:
    """The replacement of a tool, as a sentence; empty when none is known."""
    stand_in = look.terms.stand_in and look.terms.stand_in(name.partition("@")[0])
    return f" '{stand_in}' could stand in for it." if stand_in else ""


def _unavailable_fault(
    look: GraphTypes, code: str, at: str, message: str, name: str, spare: str
) -> Fault:
    """The fault of an unavailable tool; only a note when another tool (`spare`) will be called."""
    hint = spare or f" Give it a fallback.{_instead(look, name)}"
    return Fault(code=code, place=at, message=message + hint, is_note=bool(spare))
