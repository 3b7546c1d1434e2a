"""One record for every outcome; the caller gets a result, and only cancellation is raised."""

import asyncio
from typing import Any

import pytest
from tests.execution.made import (
    ADA,
    DONE,
    Following,
    Heard,
    a_call,
    a_kit,
    a_spec,
    a_target,
)

from pegboard.core.decision import Decision, Verdict
from pegboard.core.event import CallRecord, Event
from pegboard.core.result import ImagePart, ResultMeta, TextPart, ToolResult
from pegboard.core.tool import Effect
from pegboard.errors import (
    AccessDenied,
    ApprovalRequired,
    InvalidRequest,
    Problem,
    ToolArgumentError,
    ToolFailed,
    ToolOutputError,
    ToolTimeout,
    Unavailable,
)
from pegboard.execution.call_state import CallState
from pegboard.execution.emitter import Emitter
from pegboard.execution.environment import CallDefaults
from pegboard.execution.errors_for_readers import translate_error
from pegboard.execution.results.redaction import make_redactor
from pegboard.execution.steps.record import record
from pegboard.execution.steps.run import run
from pegboard.testing import FakeClock

SPEC = a_spec("pay", effect=Effect.WRITE, version="1.2.0", source="shop")
ENDLESS: dict[str, Any] = {}
ENDLESS["n"] = ENDLESS


async def recorded(
    *outcomes: Any, call: CallState | None = None, spec: Any = SPEC, **kit: Any
) -> tuple[ToolResult, CallRecord]:
    heard = Heard()
    target = None if spec is None else a_target(spec)
    result = await record(target, a_kit(heard, **kit), Following(*outcomes))(call or a_call())
    return result, heard.record


async def test_a_record_says_everything_about_a_call(clock: FakeClock) -> None:
    heard = Heard()

    async def following(call: CallState) -> ToolResult:
        clock.advance(1.5)
        call.attempts, call.cached, call.replayed = 2, True, True
        call.decision = Decision(verdict=Verdict.ALLOW, reason="because", rule="x")
        return ToolResult(content="page", meta=ResultMeta(truncated=True, total_bytes=900))

    call = a_call(
        '{"n": 1}',
        key="k",
        name="pay",
        started=clock.monotonic(),
        started_at=clock.time(),
    )
    await record(a_target(SPEC), a_kit(heard, clock=clock), following)(call)

    assert heard.record == CallRecord(
        call_id="c1",
        tool="pay",
        status="completed",
        started_at=call.started_at,
        duration_ms=1500.0,
        principal=ADA,
        version="1.2.0",
        source="shop",
        effect="write",
        decision="allow",
        reason="because",
        attempts=2,
        cached=True,
        replayed=True,
        truncated=True,
        bytes_in=8,
        bytes_out=900,
        run_id="r1",
        parent_id="p1",
        idempotency_key="k",
        arguments='{"n": 1}',
    )


async def test_a_result_says_how_its_call_went(clock: FakeClock) -> None:
    inner = ResultMeta(truncated=True, handle="h", total_bytes=9, tokens=5, cost=0.1, model="m")
    result, _ = await recorded(
        ToolResult(content="x", meta=inner),
        call=a_call(cached=True, replayed=True, started=clock.monotonic() - 0.25),
        clock=clock,
    )

    assert result.meta == ResultMeta(
        call_id="c1",
        duration_ms=250.0,
        attempts=1,
        cached=True,
        replayed=True,
        truncated=True,
        handle="h",
        total_bytes=9,
        tokens=5,
        cost=0.1,
        model="m",
    )


async def test_a_record_says_which_model_took_part_and_what_it_used() -> None:
    used = ResultMeta(tokens=120, cached_tokens=80, cost=0.002, model="openai:tiny")
    _, told = await recorded(ToolResult(content="x", meta=used))
    _, plain = await recorded(ToolResult(content="x"))

    assert (told.model, told.tokens, told.cached_tokens, told.cost) == (
        "openai:tiny",
        120,
        80,
        0.002,
    )
    assert (plain.model, plain.tokens, plain.cached_tokens, plain.cost) == ("", None, None, None)


async def test_a_record_says_whose_method_a_tool_is() -> None:
    _, told = await recorded(DONE, spec=SPEC.replace(toolkit="Shop"))

    assert (told.toolkit, told.credential) == ("Shop", "")


@pytest.mark.parametrize(
    ("outcome", "status", "code"),
    [
        (DONE, "completed", ""),
        (ToolFailed("no"), "failed", "tool_failed"),
        (ValueError("a bug of ours"), "failed", "tool_failed"),
        (ConnectionError("ours"), "unavailable", "unavailable"),
        (AccessDenied("pay", "no"), "denied", "access_denied"),
        (ApprovalRequired("pay", "ask"), "approval_needed", "approval_required"),
        (ToolArgumentError("pay", ()), "invalid", "arguments_invalid"),
        (InvalidRequest("no"), "invalid", "request_invalid"),
        (ToolTimeout("late"), "unavailable", "timeout"),
        (ToolResult(content="no", is_error=True), "failed", "tool_failed"),
        (
            ToolResult(is_error=True, error=Unavailable("down")),
            "unavailable",
            "unavailable",
        ),
        (ToolResult(is_error=True, error=AccessDenied("b", "no")), "denied", "access_denied"),
    ],
    ids=lambda value: str(value)[:40],
)
async def test_every_outcome_has_one_record_with_its_status(
    outcome: Any, status: str, code: str
) -> None:
    result, seen = await recorded(outcome)

    assert (seen.status, seen.error_code) == (status, code)
    assert result.is_error is (status != "completed")
    assert (result.error is None) is (status == "completed")
    assert seen.error_id == (result.error.error_id or "" if result.error else "")


async def test_a_cancelled_call_is_recorded_and_the_cancellation_goes_on() -> None:
    heard = Heard()

    with pytest.raises(asyncio.CancelledError):
        await record(a_target(SPEC), a_kit(heard), Following(asyncio.CancelledError()))(
            a_call(name="pay")
        )

    assert heard.record.status == "cancelled"
    assert (heard.record.error_code, heard.record.error_message) == ("", "")
    assert heard.record.attempts == 1


async def test_a_name_that_no_tool_has_is_recorded_too() -> None:
    _, seen = await recorded(InvalidRequest("no such tool"), spec=None)

    assert (seen.tool, seen.status, seen.source, seen.effect) == ("find", "invalid", "", "")


async def test_the_detail_stands_in_the_record_and_nowhere_else() -> None:
    error = ToolFailed("It failed.")
    error.__cause__ = ValueError("hunter2 is wrong")
    result, seen = await recorded(error)

    assert "ValueError: hunter2 is wrong" in seen.error_detail
    shown = f"{result.to_dict()}{result.text}{seen.error_message}{seen.error_id}"
    assert "hunter2" not in shown
    assert seen.error_message == "It failed."
    assert f"(error id {seen.error_id})" in result.text


@pytest.mark.parametrize("raw", ['{"card": "PLANTED"}', {"card": "PLANTED"}], ids=["text", "dict"])
@pytest.mark.parametrize("kept", [False, True], ids=["not kept", "kept"])
async def test_a_foreign_error_quotes_arguments_only_where_they_are_kept(
    raw: Any, kept: bool
) -> None:
    error = ToolFailed("It failed.")
    error.__cause__ = ValueError("no card PLANTED")
    _, seen = await recorded(error, call=a_call(raw), settings=CallDefaults(keep_arguments=kept))

    assert ("PLANTED" in seen.error_detail) is kept
    assert "ValueError: no card" in seen.error_detail


async def test_known_secrets_stand_nowhere_at_all() -> None:
    error = ToolFailed("key s3cret refused")
    error.__cause__ = ValueError("s3cret")

    result, seen = await recorded(error, redact=make_redactor(("s3cret",)))

    assert "s3cret" not in f"{result.to_dict()}{seen}"
    assert seen.error_message == "key [redacted] refused"


async def test_what_was_wrong_with_arguments_is_for_the_caller_and_not_for_the_record() -> None:
    problem = Problem(path="card", message='expected an integer, found "4111" (string)')
    result, seen = await recorded(ToolArgumentError("pay", (problem,)))

    assert "4111" in result.text
    assert "4111" not in seen.error_message
    assert "card" in seen.error_message


async def test_a_tools_own_words_are_its_error() -> None:
    said = ToolResult(
        content=(TextPart(text="No stock."), ImagePart(data=b"x", media_type="image/png")),
        structured={"stock": 0},
        is_error=True,
        meta=ResultMeta(tokens=5),
    )
    result, seen = await recorded(said)

    assert (result.content, result.structured, result.meta.tokens) == (
        said.content,
        {"stock": 0},
        5,
    )
    assert isinstance(result.error, ToolFailed)
    assert result.error.error_id
    assert seen.error_message.startswith("No stock.")


@pytest.mark.parametrize(
    ("said", "content"),
    [
        (ToolResult(is_error=True), "The tool reported an error. (error id "),
        (ToolResult(is_error=True, error=InvalidRequest("No order 17.")), "No order 17."),
    ],
    ids=["nothing", "only an error"],
)
async def test_a_tool_that_fails_without_words_is_put_into_words(
    said: ToolResult, content: str
) -> None:
    result, _ = await recorded(said)

    assert result.text.startswith(content)


async def test_a_returned_error_shows_no_secret_either() -> None:
    said = ToolResult(is_error=True, error=ToolFailed("key s3cret refused"))
    result, seen = await recorded(said, redact=make_redactor(("s3cret",)))

    assert "s3cret" not in f"{result.to_dict()}{seen}"


@pytest.mark.parametrize(
    ("raw", "content", "bytes_in", "bytes_out"),
    [
        ('{"n": "é"}', "grüße", 11, 7),
        (b"12345", "x", 5, 1),
        ({"n": 1}, (TextPart(text="é"), ImagePart(data=b"xx", media_type="i")), 7, 2),
        ({"n": "é"}, "", 10, 0),
        ({"n": float("inf")}, "", 14, 0),
        ({"n": object()}, "", 0, 0),
        (ENDLESS, "", 0, 0),
        ({}, "", 2, 0),
        (None, "", 0, 0),
    ],
    ids=[
        "text",
        "bytes",
        "mapping and parts",
        "text in a mapping",
        "infinite",
        "no JSON",
        "endless",
        "empty",
        "nothing",
    ],
)
async def test_bytes_are_bytes(raw: Any, content: Any, bytes_in: int, bytes_out: int) -> None:
    _, seen = await recorded(ToolResult(content=content), call=a_call(raw))

    assert (seen.bytes_in, seen.bytes_out) == (bytes_in, bytes_out)


class Breaks:
    def on_event(self, event: Event) -> None:
        raise RuntimeError("a listener fails")


@pytest.mark.parametrize("outcome", [DONE, ToolFailed("no", error_id="e_1")], ids=str)
async def test_a_listener_that_raises_changes_nothing_and_is_counted(outcome: Any) -> None:
    emitter = Emitter([Breaks()])
    expected, _ = await recorded(outcome)
    kit = a_kit()
    object.__setattr__(kit, "emitter", emitter)

    result = await record(a_target(SPEC), kit, Following(outcome))(a_call())

    assert (result.content, result.is_error) == (expected.content, expected.is_error)
    assert emitter.failures == 1


async def test_without_listeners_a_result_is_the_same() -> None:
    result = await record(a_target(SPEC), a_kit(), Following())(a_call())

    assert (result.content, result.meta.call_id, result.meta.attempts) == ("done", "c1", 1)


def _stacks(caplog: pytest.LogCaptureFixture) -> list[str]:
    return [item.getMessage() for item in caplog.records if item.name == "pegboard.tools"]


async def _break() -> None:
    raise KeyError("s3cret", "in the arguments")


async def test_an_unexpected_exception_is_logged_with_its_stack_and_error_id(
    caplog: pytest.LogCaptureFixture,
) -> None:
    tool, calls = a_target(SPEC, run=lambda *_: _break()), a_kit(redact=make_redactor(("s3cret",)))

    result = await record(tool, calls, run(tool, calls, Following()))(
        a_call({"n": "in the arguments"}, name="pay")
    )

    [text] = _stacks(caplog)
    assert result.error is not None
    assert text.startswith(
        f"tools: 'pay' failed with an unexpected exception (error id {result.error.error_id})\n"
    )
    assert "in _break" in text
    assert "s3cret" not in text
    assert "KeyError: ('[redacted]', '[redacted]')" in text


@pytest.mark.parametrize(
    "error",
    [ToolFailed("No."), Unavailable("Later."), ConnectionError("x"), InvalidRequest("Bad.")],
    ids=["refused", "unavailable", "connection", "caller"],
)
async def test_an_expected_error_is_not_logged(
    error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    await recorded(error)

    assert _stacks(caplog) == []


async def test_an_output_that_the_tool_may_not_return_is_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = ToolOutputError("'pay' returned something that its own schema does not allow.")
    error.__cause__ = ValueError("output: nan is not a finite number")

    await recorded(error)

    [text] = _stacks(caplog)
    assert "output: nan is not a finite number" in text


async def test_an_error_that_ends_two_calls_is_logged_once(
    caplog: pytest.LogCaptureFixture,
) -> None:
    error = translate_error("pay", ValueError("x"))

    await recorded(error)
    await recorded(error)

    assert len(_stacks(caplog)) == 1
