"""Authorize: whether this caller may make this call, asked first and again after a wait."""

from collections.abc import Coroutine
from typing import Any

from pegboard.access import decide as judge
from pegboard.core.decision import Action, Verdict
from pegboard.core.result import ToolResult
from pegboard.execution.authorization import reauthorize, refuse
from pegboard.execution.call_state import CallState, Handler
from pegboard.execution.compiled_tool import CompiledTool
from pegboard.execution.environment import CallEnvironment

# Looked up once: reading a member of an enum on every call shows in the cost of a call.
_CALL, _ALLOW, _DENY = Action.CALL, Verdict.ALLOW, Verdict.DENY


def decide(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """Always there; the decision and its reason go into the record of the call."""
    spec, policy, switches = target.spec, environment.policy, environment.switches
    has_approval_step = policy.may_ask(spec)

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        # `authorization.authorize` does the same; its frame would cost every call.
        decision = judge(
            call.ctx.principal,
            spec,
            _CALL,
            call.arguments,
            policy=policy,
            switches=switches,
            untrusted=call.taint is not None,
            origins=call.origins,
        )
        call.decision = decision
        if decision.verdict is not _ALLOW and (decision.verdict is _DENY or not has_approval_step):
            refuse(call, spec, decision)
        return following(call)

    return handle


def recheck(target: CompiledTool, environment: CallEnvironment, following: Handler) -> Handler:
    """There for calls that may wait: for a key, for an answer that is being made, or for a turn.

    A tool that was turned off during the wait does not run.
    """
    spec = target.spec
    is_shared = spec.cacheable and spec.cache_ttl > 0
    if not (target.keyed or is_shared or environment.policy.limits_for(spec)):
        return following

    def handle(call: CallState) -> Coroutine[Any, Any, ToolResult]:
        reauthorize(call, target, environment)
        return following(call)

    return handle
