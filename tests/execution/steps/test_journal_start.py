"""A write is stored as started before it runs, and does not run if it cannot be."""

import pytest
from tests.execution.made import DONE, Following, a_call, a_kit, a_spec, a_target

from pegboard.access import Policy
from pegboard.core.decision import Decision, Verdict
from pegboard.core.event import CallStarted, digest_of
from pegboard.core.tool import Effect
from pegboard.errors import Unavailable
from pegboard.execution.steps.journal_start import start

ALLOWED = Decision(verdict=Verdict.ALLOW, reason="because", rule="default.write")


class Journal:
    def __init__(self, following: Following, error: Unavailable | None = None) -> None:
        self.events: list[tuple[CallStarted, int]] = []
        self._following = following
        self._error = error
        self.reads: set[str] = set()

    def wants(self, *, effect: str, decision: str, handler: str) -> bool:
        return effect != "read" or decision in self.reads

    async def record_start(self, event: CallStarted) -> None:
        if self._error is not None:
            raise self._error
        self.events.append((event, self._following.calls))


@pytest.mark.parametrize("effect", [Effect.WRITE, Effect.ADMIN])
async def test_the_start_is_stored_before_the_tool_runs(effect: Effect) -> None:
    following = Following()
    journal = Journal(following)
    spec = a_spec("pay", effect=effect, version="1.2.0", source="shop")

    result = await start(a_target(spec), a_kit(journal=journal), following)(
        a_call('{"n": 1}', started_at=7.0, key="order-17", decision=ALLOWED)
    )

    assert result == DONE
    assert journal.events == [
        (
            CallStarted(
                call_id="c1",
                tool="pay",
                version="1.2.0",
                source="shop",
                principal="ada",
                tenant="acme",
                effect=effect.value,
                arguments_digest=digest_of({"n": 1}),
                started_at=7.0,
                run_id="r1",
                parent_id="p1",
                idempotency_key="order-17",
                decision="allow",
            ),
            0,
        )
    ]


async def test_a_start_that_cannot_be_stored_keeps_the_tool_from_running() -> None:
    following = Following()
    journal = Journal(following, Unavailable("the disk is full"))
    handle = start(a_target(a_spec(effect=Effect.WRITE)), a_kit(journal=journal), following)

    with pytest.raises(Unavailable, match="disk is full"):
        await handle(a_call())

    assert following.calls == 0


@pytest.mark.parametrize(("effect", "kept"), [("read", True), ("write", False)])
def test_reads_and_boards_that_keep_no_starts_pay_nothing(effect: str, kept: bool) -> None:
    following = Following()
    kit = a_kit(journal=Journal(following) if kept else None)

    assert start(a_target(a_spec(effect=Effect(effect))), kit, following) is following


async def test_a_read_that_somebody_is_asked_about_is_stored_where_the_journal_wants_it() -> None:
    following = Following()
    journal = Journal(following)
    journal.reads = {"ask"}
    kit = a_kit(journal=journal, policy=Policy(ask=("find",)))
    asked, plain = (a_target(a_spec(name, effect=Effect.READ)) for name in ("find", "list"))

    await start(asked, kit, following)(a_call())

    assert [event.effect for event, _ in journal.events] == ["read"]
    assert start(plain, kit, following) is following
