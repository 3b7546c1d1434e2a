"""What a running tool is given, and whose things a call's things are."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.execution.made import ADA, a_call

from pegboard.core.context import ToolContext
from pegboard.core.elicitation import Answer, LogLine, Question, Sample, SampleRequest
from pegboard.core.principal import Principal
from pegboard.execution.call_state import CallState


class Person:
    takes_questions = takes_samples = True

    async def ask(self, question: Question) -> Answer:
        return Answer(action="cancel")

    async def sample(self, request: SampleRequest) -> Sample:
        return Sample(content=())


PERSON = Person()


def test_a_tool_gets_the_callers_context_and_its_own_call() -> None:
    async def caller(*_: Any) -> Any:
        raise AssertionError("not called")

    ctx: ToolContext[Any] = ToolContext(
        deps="deps",
        principal=ADA,
        run_id="r1",
        parent_id="p1",
        deadline=90.0,
        idempotency_key="k",
        workspace=Path("/w"),
        on_progress=print,
        on_log=print,
        elicitor=PERSON,
    )
    run = CallState(
        id="c1",
        name="find",
        raw=None,
        ctx=ctx,
        started=0,
        started_at=0,
        deadline=50.0,
        caller=caller,
    )

    assert run.context() == ToolContext(
        deps="deps",
        principal=ADA,
        run_id="r1",
        call_id="c1",
        parent_id="p1",
        tool="find",
        deadline=50.0,
        idempotency_key="k",
        workspace=Path("/w"),
        on_progress=print,
        on_log=print,
        elicitor=PERSON,
        caller=caller,
    )


def test_what_a_tool_tells_is_redacted() -> None:
    heard: list[LogLine] = []
    run = a_call()
    run.ctx = ToolContext(on_log=heard.append)
    told = run.context(lambda text: text.replace("hunter2", "[redacted]")).on_log
    line = LogLine(call_id="c", tool="t", level="info", data={"key": ["hunter2", 1]})

    assert told is not None
    told(line)

    assert heard == [LogLine(call_id="c", tool="t", level="info", data={"key": ["[redacted]", 1]})]


def test_a_tool_sees_the_end_of_its_attempt_as_its_deadline() -> None:
    run = a_call(deadline=50.0, attempt_deadline=20.0)

    assert run.context().deadline == 20.0


@pytest.mark.parametrize(
    ("principal", "owner"),
    [
        (ADA, "acme/ada"),
        (Principal(id="ada"), "/ada"),
        (Principal(id="b/c", tenant="a"), "a/b/c"),
        (Principal(id="c", tenant="a/b"), "a%2Fb/c"),
        (Principal(id="c", tenant="a%2Fb"), "a%252Fb/c"),
    ],
)
def test_the_owner_names_tenant_and_caller(principal: Principal, owner: str) -> None:
    assert a_call(principal=principal).owner == owner


PRINCIPALS = st.builds(Principal, id=st.text("a/%2F", max_size=6), tenant=st.text("a/%2F"))


@given(PRINCIPALS, PRINCIPALS)
def test_two_callers_never_own_the_same(first: Principal, second: Principal) -> None:
    assert (first.owner == second.owner) is (first == second)
