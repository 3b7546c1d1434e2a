"""Whom a run asks sees its question and answers it, and learns nothing else of the run."""

from pegboard.core.graph import Graph, Node, NodeState, Wait
from pegboard.core.ports.accounts.identity_store import NewIdentity, User
from pegboard.core.ports.durability import RunStart
from pegboard.core.ports.run_store import StoredRun
from pegboard.core.principal import Principal
from pegboard.core.run import NodeRun, PendingStep, RunResult
from pegboard.features.runs.assignees import find_assigned, find_names, show_questions
from pegboard.features.runs.views import RunView
from pegboard.storage.memory.storage import MemoryStorage

MINE = PendingStep(id="a", step="ask", kind="person", assignee="bob", message="Well?")
OTHERS = PendingStep(id="b", step="tell", kind="person", assignee="eve")
BOB = Principal(id="u_bob", user="u_bob", roles=frozenset({"acme/approver"}))
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
        principal=Principal(id="u_ada", user="u_ada", tenant="acme"),
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
    assert find_assigned(RUN, RESULT.pending, BOB, {"bob"}) == (MINE,)
    assert find_assigned(RUN, RESULT.pending, BOB, {"max"}) == ()


def test_a_caller_without_an_account_is_asked_in_its_tenant_alone() -> None:
    assert find_assigned(RUN, RESULT.pending, Principal(id="bob", tenant="acme"), {"bob"}) == (
        MINE,
    )
    assert find_assigned(RUN, RESULT.pending, Principal(id="bob", tenant="zoo"), {"bob"}) == ()


def test_who_is_asked_sees_nothing_but_the_question() -> None:
    graph = Graph(nodes=(Node(id="secret", kind="wait", wait=Wait(question="?")),), name="Ask")

    shown = show_questions(RunView(run=RUN, graph=graph, result=RESULT), [MINE]).to_dict()

    assert [item["id"] for item in shown["pending"]] == ["a"]
    assert "secret" not in str(shown)
    assert (shown["graph"], shown["output"], shown["params"]) == ("Ask", None, {})
