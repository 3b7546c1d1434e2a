"""Whom a run asks sees its question and answers it, and learns nothing else of the run."""

from typing import Any

import pytest
from msgspec import structs

from pegboard.core.graph import Graph, Node, NodeState, Wait
from pegboard.core.ports.accounts.identity_store import NewIdentity, User
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run_store import StoredRun
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun, PendingStep, RunResult
from pegboard.features.runs.assignees import find_names, find_questions_to, show_questions
from pegboard.features.runs.views import RunView
from pegboard.storage.memory.storage import MemoryStorage

MINE = PendingStep(id="a", step="ask", kind="person", assignee="bob", message="Well?")
OTHERS = PendingStep(id="b", step="tell", kind="person", assignee="eve")
BOB = Principal(
    id="u_bob",
    user="u_bob",
    roles=frozenset({"acme/approver"}),
    organisations=frozenset({"acme", "zoo"}),
)
RESULT = RunResult(
    run_id="r",
    state=NodeState.WAITING,
    output={"secret": 1},
    nodes=(NodeRun(id="secret", state=NodeState.COMPLETED, output="secret"),),
    pending=(MINE, OTHERS),
)
RUN = StoredRun(
    start=RunStart(
        run_id="r",
        graph={"nodes": []},
        params={"word": "secret"},
        principal=Principal(
            id="u_ada", user="u_ada", tenant="acme", organisations=frozenset({"acme"})
        ),
        created_at=0.0,
    ),
    state=NodeState.WAITING,
    result=RESULT,
)


async def test_an_account_is_asked_by_each_of_its_names() -> None:
    async with MemoryStorage() as storage:
        user = User(id="u_bob", handle="bob", name="Bob", created_at=0, email="bob@acme.example")
        await storage.identity.add(NewIdentity(at=0, user=user))

        names = await find_names(storage.identity, BOB)

    assert names == {"u_bob", "bob", "bob@acme.example", "acme/approver"}


def test_a_question_is_for_whom_it_names() -> None:
    assert find_questions_to(RUN, RESULT.pending, BOB, {"bob"}) == (MINE,)
    assert find_questions_to(RUN, RESULT.pending, BOB, {"max"}) == ()


@pytest.mark.parametrize(
    ("changes", "asks"),
    [
        pytest.param({"organisations": frozenset({"acme", "lab"})}, True, id="member"),
        pytest.param({"organisations": frozenset({"lab"})}, False, id="of another organisation"),
        pytest.param({"organisations": frozenset[str]()}, False, id="of none"),
        pytest.param(
            {"organisations": frozenset({"lab"}), "scopes": frozenset({"*"})}, True, id="operator"
        ),
        pytest.param({"user": "u_bob", "organisations": frozenset[str]()}, True, id="oneself"),
    ],
)
def test_a_run_asks_those_whom_its_caller_may_see(changes: dict[str, Any], asks: bool) -> None:
    asker = structs.replace(RUN.start.principal, **changes)
    run = structs.replace(RUN, start=structs.replace(RUN.start, principal=asker))

    assert (find_questions_to(run, RESULT.pending, BOB, {"bob"}) == (MINE,)) is asks


def test_a_caller_without_an_account_is_asked_in_its_tenant_alone() -> None:
    assert find_questions_to(RUN, RESULT.pending, Principal(id="bob", tenant="acme"), {"bob"}) == (
        MINE,
    )
    assert find_questions_to(RUN, RESULT.pending, Principal(id="bob", tenant="zoo"), {"bob"}) == ()


def test_who_is_asked_sees_nothing_but_the_question() -> None:
    graph = Graph(nodes=(Node(id="secret", kind="wait", wait=Wait(question="?")),), name="Ask")

    shown = show_questions(RunView(run=RUN, graph=graph, result=RESULT), [MINE]).to_dict()

    assert [item["id"] for item in shown["pending"]] == ["a"]
    assert "secret" not in str(shown)
    assert (shown["graph"], shown["output"], shown["params"]) == ("Ask", None, {})
