"""The decision stands before the tool, and goes into the call."""

import asyncio
from collections.abc import Mapping
from typing import Any

import pytest
from msgspec import structs
from tests.execution.made import DONE, Following, Heard, a_call, a_kit, a_spec, a_target
from tests.storage.test_resources import a_resource

from pegboard.access import Policy
from pegboard.access.namesakes import Namesakes
from pegboard.access.visibility import ResourceIndex
from pegboard.core.decision import Decision, Verdict
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, Limits, Status, ToolSpec
from pegboard.errors import (
    AccessDenied,
    InvalidRequest,
    PegboardError,
    SourceUnavailable,
    ToolNotFound,
)
from pegboard.execution.limits.breakers import Breaker, Breakers
from pegboard.execution.order import compile_path
from pegboard.execution.steps.authorize import decide


async def test_an_allowed_call_goes_on_and_carries_its_decision() -> None:
    call = a_call()

    result = await decide(a_target(), a_kit(policy=Policy(allow=("f*",))), Following())(call)

    assert result == DONE
    assert call.decision == Decision(
        verdict=Verdict.ALLOW,
        reason="the policy's allow rule 'f*' matches",
        rule="policy.allow[0]",
    )


@pytest.mark.parametrize(
    ("spec", "kind", "message"),
    [
        ({"scopes": ("money",)}, AccessDenied, "Access to 'find' denied: the caller lacks the "),
        ({"status": Status.DISABLED}, AccessDenied, "Access to 'find' denied: the tool is disable"),
        ({"unavailable": "needs a key"}, SourceUnavailable, "'find' cannot be used: needs a key"),
    ],
    ids=["scope", "disabled", "unavailable"],
)
async def test_a_denied_call_goes_no_further(
    spec: dict[str, Any], kind: type[PegboardError], message: str
) -> None:
    following, call = Following(), a_call()

    with pytest.raises(kind) as caught:
        await decide(a_target(a_spec(**spec)), a_kit(), following)(call)

    assert following.calls == 0
    assert str(caught.value).startswith(message)
    assert call.decision is not None
    assert call.decision.verdict is Verdict.DENY


async def test_what_needs_an_approval_is_left_to_the_next_step() -> None:
    call, following = a_call(), Following()

    await decide(a_target(a_spec(effect=Effect.ADMIN)), a_kit(), following)(call)

    assert call.decision is not None
    assert call.decision.verdict is Verdict.ASK
    assert following.calls == 1


async def test_a_switch_holds_from_the_next_call_on() -> None:
    kit, following = a_kit(), Following()
    handle = decide(a_target(), kit, following)
    await handle(a_call())
    kit.switches.turn_off(tool="find", reason="a fire")

    with pytest.raises(AccessDenied, match="a fire"):
        await handle(a_call())

    kit.switches.turn_on(tool="find")
    await handle(a_call())
    assert following.calls == 2


@pytest.mark.parametrize(
    ("spec", "key"),
    [
        (a_spec(effect=Effect.WRITE), "k"),
        (a_spec(), "k"),
        (a_spec(cacheable=True, cache_ttl=60), None),
        (a_spec(limits=Limits(concurrency=1)), None),
    ],
    ids=["a write's key", "a read's key", "an answer", "a turn"],
)
async def test_who_waited_is_judged_again_before_the_tool_runs(
    spec: ToolSpec, key: str | None
) -> None:
    begun, ending, runs = asyncio.Event(), asyncio.Event(), list[str]()

    async def fails(_arguments: Mapping[str, Any], _ctx: Any) -> str:
        runs.append("run")
        begun.set()
        await ending.wait()
        raise InvalidRequest("no such order")

    kit = a_kit(heard := Heard())
    path = compile_path(a_target(spec, keyed=key is not None, run=fails), kit)
    first = asyncio.ensure_future(path(a_call({}, key=key)))
    await begun.wait()
    second = asyncio.ensure_future(path(a_call({}, key=key)))
    await asyncio.sleep(0.005)
    kit.switches.turn_off(tool="find", reason="a fire")
    ending.set()
    results = await asyncio.gather(first, second)

    assert [type(result.error) for result in results] == [InvalidRequest, AccessDenied]
    assert runs == ["run"]
    assert [record.decision for record in heard.records] == [Verdict.ALLOW, Verdict.DENY]


async def test_a_tool_that_its_owner_withdraws_during_a_wait_is_as_unknown() -> None:
    limits, index = Limits(concurrency=1), ResourceIndex()
    shared = a_resource(name="bob--shop", organisation="acme", visibility="organisation")
    index.use([shared], [])
    policy = Policy().bind(Namesakes(), resources=index)
    kit = a_kit(policy=policy, resource_index=index)
    bucket = kit.limiters.get("find", limits)
    await bucket.enter(0)
    path = compile_path(a_target(a_spec(source="bob--shop", limits=limits)), kit)
    cem = Principal(
        id="u9", user="u9", roles=frozenset({"acme/member"}), organisations=frozenset({"acme"})
    )
    waiting = asyncio.ensure_future(path(a_call({}, principal=cem)))
    await asyncio.sleep(0)
    index.use([structs.replace(shared, visibility="private")], [])
    bucket.leave()

    assert isinstance((await waiting).error, ToolNotFound)


async def test_a_call_that_is_refused_after_its_wait_gives_its_turn_back_and_heals_no_breaker() -> (
    None
):
    breaker, breakers, limits = (
        Breaker("shop", threshold=1, recovery=600),
        Breakers(),
        Limits(concurrency=1),
    )
    breakers.add("shop", breaker)
    breaker.record_failure(probe=False)
    kit = a_kit(breakers=breakers)
    bucket = kit.limiters.get("find", limits)
    await bucket.enter(0)
    path = compile_path(a_target(a_spec(source="shop", limits=limits)), kit)
    waiting = asyncio.ensure_future(path(a_call({})))
    await asyncio.sleep(0)
    kit.switches.turn_off(tool="find", reason="a fire")
    bucket.leave()

    assert isinstance((await waiting).error, AccessDenied)
    assert bucket._in_flight == 0
    assert breaker.state == "open"
