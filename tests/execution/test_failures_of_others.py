"""What goes wrong in the systems that we learn from, line by line, and does not here.

Each test names what was measured elsewhere: a tool that ran although its call was invalid, a
sibling that was cancelled midway, a password that a model could read.
"""

import asyncio
import threading
from collections.abc import Mapping
from typing import Annotated, Any

import pytest
from pydantic import BaseModel, Field
from tests.execution.made import Heard

from pegboard import Policy, SchemaTool, ToolContext, ToolRegistry, ToolResult, ToolSpec, tool
from pegboard.core.event import CallRecord
from pegboard.core.tool import Effect, Retry
from pegboard.errors import (
    ApprovalRequired,
    PegboardError,
    ToolArgumentError,
    ToolFailed,
    ToolTimeout,
    Unavailable,
)
from pegboard.execution.emitter import Emitter
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.limits.breakers import Breaker, Breakers
from pegboard.execution.results.redaction import make_redactor
from pegboard.testing import FakeClock

PASSWORD = "correct-horse-battery"


def shown(result: ToolResult, record: CallRecord) -> str:
    """Everything that a model, a remote caller or a log line may see."""
    return f"{result.text}{result.to_dict()}{result.error}{record.error_message}{record.reason}"


# "Five kinds of invalid call to a raw-JSON-Schema tool reach the function in 6 of 7 frameworks"

RAW = {
    "type": "object",
    "properties": {
        "table": {"type": "string", "enum": ["orders", "users"]},
        "limit": {"type": "integer", "minimum": 1},
        "filter": {"type": "object", "properties": {"id": {"type": "integer"}}, "required": ["id"]},
    },
    "required": ["table"],
    "additionalProperties": False,
}
INVALID = {
    "a missing argument": {"limit": 3},
    "a wrong type": {"table": "orders", "limit": "abc"},
    "an unknown argument": {"table": "orders", "lmit": 3},
    "a value that is not allowed": {"table": "secrets"},
    "a nested fault": {"table": "orders", "filter": {"id": "abc"}},
}


@pytest.mark.parametrize("arguments", INVALID.values(), ids=INVALID.keys())
async def test_an_invalid_call_never_reaches_a_tool_with_a_raw_schema(
    arguments: dict[str, Any],
) -> None:
    reached: list[Any] = []

    async def query(given: Mapping[str, Any], _ctx: ToolContext[Any]) -> str:
        reached.append(given)
        return "rows"

    registry = ToolRegistry([SchemaTool(spec=ToolSpec(name="query", input_schema=RAW), run=query)])

    result = await registry.call("query", arguments)

    assert reached == []
    assert isinstance(result.error, ToolArgumentError)
    assert result.meta.attempts == 0


# "`abc` reaches an `int`; a dict reaches a parameter typed as a model; unknown arguments are
# dropped in 8 of 14"


class Order(BaseModel):
    number: int


@pytest.mark.parametrize(
    "arguments",
    [{"count": "abc"}, {"count": True}, {"count": 1.5}, {"order": {"number": "x"}}, {"cuont": 1}],
    ids=str,
)
async def test_an_invalid_call_never_reaches_a_function(arguments: dict[str, Any]) -> None:
    reached: list[Any] = []

    @tool
    def pack(count: int = 1, order: Order | None = None) -> str:
        reached.append((count, order))
        return "packed"

    result = await ToolRegistry([pack]).call("pack", arguments)

    assert reached == []
    assert isinstance(result.error, ToolArgumentError)


async def test_what_is_declared_as_a_model_arrives_as_that_model() -> None:
    @tool
    def pack(order: Order) -> str:
        return type(order).__name__

    assert (await ToolRegistry([pack]).call("pack", {"order": {"number": 1}})).unwrap() == "Order"


# "Hiding even validation detail makes the model repeat the same call four times"


async def test_the_model_reads_exactly_what_was_wrong_with_its_call() -> None:
    @tool
    def pack(
        items: list[Order],
        count: Annotated[int, Field(ge=1, description="How many boxes.")],
        colour: str = "brown",
    ) -> str:
        return f"{items}{count}{colour}"

    result = await ToolRegistry([pack]).call(
        "pack", {"items": [{"number": 1}, {"number": "x"}], "color": "red"}
    )

    for line in ("items[1].number", "count: missing", "How many boxes.", "did you mean 'colour'?"):
        assert line in result.text


# "A tool's exception crashes the run or shows the model its text with a password in it"


def as_raised(error: BaseException) -> Any:
    async def connect() -> None:
        raise error

    def connect_sync() -> None:
        raise error

    return connect, connect_sync


ERRORS: list[BaseException] = [
    ValueError(f"db refused {PASSWORD}"),
    ConnectionError(PASSWORD),
    TimeoutError(PASSWORD),
    SystemExit(PASSWORD),
    KeyError(PASSWORD),
    ExceptionGroup(PASSWORD, [ValueError(PASSWORD), ValueError(PASSWORD)]),
    StopAsyncIteration(PASSWORD),
    asyncio.CancelledError(PASSWORD),
    asyncio.InvalidStateError(PASSWORD),
    AssertionError(PASSWORD),
]


@pytest.mark.parametrize("place", [0, 1], ids=["async", "in a thread"])
@pytest.mark.parametrize("error", ERRORS, ids=lambda error: type(error).__name__)
async def test_what_a_tool_raises_ends_no_run_and_shows_no_password(
    error: BaseException, place: int
) -> None:
    heard = Heard()
    registry = ToolRegistry([tool(name="connect")(as_raised(error)[place])], listeners=[heard])

    result = await registry.call("connect")

    assert result.is_error
    assert isinstance(result.error, PegboardError)
    assert PASSWORD not in shown(result, heard.record)
    assert PASSWORD in heard.record.error_detail
    assert heard.record.error_id == result.error.error_id


async def test_a_known_secret_is_not_even_in_what_a_tool_says_on_purpose() -> None:
    heard = Heard()
    kit = CallEnvironment(redact=make_redactor((PASSWORD,)), emitter=Emitter([heard]))

    @tool
    async def connect() -> None:
        raise ToolFailed(f"The database refused {PASSWORD}.")

    result = await ToolRegistry([connect], environment=kit).call("connect")

    assert PASSWORD not in f"{shown(result, heard.record)}{heard.record.error_detail}"
    assert "The database refused [redacted]." in result.text


async def test_a_broken_result_is_not_shown_either() -> None:
    heard = Heard()

    @tool
    async def count() -> int:
        answer: Any = f"password is {PASSWORD}"
        return answer

    result = await ToolRegistry([count], listeners=[heard]).call("count")

    assert result.error is not None
    assert result.error.code == "output_invalid"
    assert PASSWORD not in shown(result, heard.record)


# "In a parallel batch a failing tool cancels its sibling `pay` midway in all four frameworks"


class Till:
    """Counts payments that began and that were finished."""

    def __init__(self) -> None:
        self.began = 0
        self.finished = 0

    def tool(self) -> Any:
        @tool(name="pay", effect="write", idempotent=False)
        async def pay() -> str:
            self.began += 1
            await asyncio.sleep(0.03)
            self.finished += 1
            return "paid"

        return pay


async def cancels_itself() -> None:
    task = asyncio.current_task()
    assert task is not None
    task.cancel()
    await asyncio.sleep(1)


async def raises() -> None:
    raise ValueError("broken")


async def says_no() -> None:
    raise ToolFailed("no")


async def hangs() -> None:
    await asyncio.sleep(60)


async def is_interrupted() -> None:
    future: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    future.cancel()
    await future


def exits() -> None:
    raise SystemExit(1)


@pytest.mark.parametrize(
    "sibling",
    [raises, says_no, hangs, is_interrupted, cancels_itself, exits],
    ids=lambda sibling: sibling.__name__,
)
async def test_whatever_a_sibling_does_the_payment_is_made_once_and_its_result_kept(
    sibling: Any,
) -> None:
    till, heard = Till(), Heard()
    registry = ToolRegistry(
        [till.tool(), tool(name="sibling", timeout=0.01)(sibling)], listeners=[heard]
    )

    results = await registry.call_many([("sibling", None), ("pay", None), ("sibling", None)])

    assert [result.is_error for result in results] == [True, False, True]
    assert results[1].unwrap() == "paid"
    assert (till.began, till.finished) == (1, 1)
    assert len(heard.records) == 3


async def test_an_invalid_a_denied_and_an_unknown_call_leave_the_payment_alone() -> None:
    till = Till()

    @tool
    def pack(count: int) -> int:
        return count

    @tool
    def wipe() -> None:
        raise AssertionError("never reached")

    registry = ToolRegistry([till.tool(), pack, wipe], policy=Policy(deny=("wipe",)))

    results = await registry.call_many(
        [("pack", {"count": "x"}), ("pay", None), ("wipe", None), ("nobody", None), ("pay", "{")]
    )

    assert [result.is_error for result in results] == [True, False, True, True, True]
    assert (till.began, till.finished) == (1, 1)


# "LangGraph's resume starts `pay` again"


async def test_a_batch_that_is_sent_again_does_not_pay_again() -> None:
    till = Till()
    registry = ToolRegistry([till.tool(), tool(raises)])
    ctx: ToolContext[Any] = ToolContext(idempotency_key="run-1:step-2")
    batch: list[tuple[str, Any]] = [("pay", None), ("raises", None)]

    first = await registry.call_many(batch, ctx)
    again = await registry.call_many(batch, ctx)

    assert till.began == 1
    assert [result.text for result in again] == [result.text for result in first]
    assert [result.meta.replayed for result in again] == [True, True]


# "Approvals: run although rejected; auto-approved without a database"


@pytest.mark.parametrize(
    "policy", [Policy(ask=("refund",)), Policy()], ids=["by rule", "by effect"]
)
async def test_ask_never_runs_the_tool(policy: Policy) -> None:
    reached: list[int] = []

    @tool(effect="admin", retry=Retry())
    def refund(order: int) -> str:
        reached.append(order)
        return "refunded"

    heard = Heard()
    registry = ToolRegistry([refund], policy=policy, listeners=[heard])
    keyed: ToolContext[Any] = ToolContext(idempotency_key="k")

    results = [await registry.call("refund", {"order": 17}) for _ in range(3)]
    results += await registry.call_many([("refund", {"order": 17})] * 3)
    results += [await registry.call("refund", {"order": 17}, keyed) for _ in range(2)]
    results.append(await asyncio.to_thread(registry.call_sync, "refund", {"order": 17}))

    assert reached == []
    assert {type(result.error) for result in results} == {ApprovalRequired}
    assert {record.status for record in heard.records} == {"approval_needed"}


# "Of 8 parallel results the first 2 are wiped before the model sees them"


async def test_no_result_of_eight_parallel_ones_is_lost_however_large() -> None:
    @tool(effect="read", max_result_bytes=1000)
    async def read(page: int) -> str:
        await asyncio.sleep(0.001 * (8 - page))
        return f"page {page}: " + "x" * 5000

    registry = ToolRegistry([read])

    results = await registry.call_many([("read", {"page": number}) for number in range(8)])

    assert [result.text[:7] for result in results] == [f"page {number}:" for number in range(8)]
    whole = [await registry.read_result(result.meta.handle, page=6) for result in results]
    assert [page.text for page in whole] == ["x" * 8] * 8


# "A breaker stays half-open for ever after a 4xx probe"


async def test_a_breaker_closes_after_a_probe_that_is_refused(clock: FakeClock) -> None:
    down = Unavailable("down")
    answers = iter([down, down, ToolFailed("404")])

    async def fetch(_given: Mapping[str, Any], _ctx: ToolContext[Any]) -> str:
        for error in answers:
            raise error
        return "fine"

    breakers = Breakers()
    breakers.add("api", Breaker("api", threshold=2, recovery=5, monotonic=clock.monotonic))
    spec = ToolSpec(name="api__fetch", source="api", input_schema={}, effect=Effect.READ)
    registry = ToolRegistry(
        [SchemaTool(spec=spec, run=fetch)], environment=CallEnvironment(breakers=breakers)
    )

    codes = [(await registry.call("api__fetch")).error for _ in range(3)]
    clock.advance(5)
    probe = await registry.call("api__fetch")
    after = await registry.call("api__fetch")

    assert [error.code for error in codes if error] == [
        "unavailable",
        "unavailable",
        "breaker_open",
    ]
    assert isinstance(probe.error, ToolFailed)
    assert after.unwrap() == "fine"


# "A hung upstream blocks even healthy tools"


async def test_tools_that_hang_do_not_hold_up_others() -> None:
    released = threading.Event()

    @tool(timeout=0.02, effect="read")
    def hangs_in_a_thread() -> None:
        released.wait()

    @tool(effect="read")
    def quick() -> str:
        return "quick"

    registry = ToolRegistry([hangs_in_a_thread, quick])

    results = await registry.call_many([("hangs_in_a_thread", None)] * 6 + [("quick", None)] * 3)
    released.set()

    assert [type(result.error) for result in results[:6]] == [ToolTimeout] * 6
    assert [result.text for result in results[6:]] == ["quick"] * 3


async def test_the_detail_of_a_failure_holds_the_stack_of_the_tool_and_no_steps_of_the_call() -> (
    None
):
    heard = Heard()

    @tool
    def divide(amount: int) -> float:
        return amount / 0

    await ToolRegistry([divide], listeners=[heard]).call("divide", {"amount": 1})

    lines = heard.record.error_detail.splitlines()
    frames = [line for line in lines if line.startswith("  File ")]
    assert len(frames) == 1
    assert frames[0].endswith(", in divide")
    assert "ZeroDivisionError: division by zero" in lines
    assert lines[-1] == "pegboard.errors.ToolFailed: 'divide' failed."
