"""A goal is planned, worked on at the same time, judged, and planned again."""

import asyncio
from typing import Any

import pytest
from tests.engines.dag.made import (
    USED,
    Team,
    a_goal,
    a_judgement,
    a_step,
    goal_runner,
    reach,
    task_of,
)
from tests.engines.made import output_of, reported
from tests.graphs.made import Bench, at_the_bench
from tests.graphs.test_runner import after_a_crash, recovered

from pegboard.access import Policy
from pegboard.core.graph import NodeState
from pegboard.core.model_messages import (
    AssistantMessage,
    ModelRequest,
    ModelSettings,
    ModelUsage,
    ToolMessage,
    UserMessage,
)
from pegboard.core.run import RunResult
from pegboard.engines import AgentLimits
from pegboard.errors import Unavailable
from pegboard.testing import Turn

FORK = [a_step("a"), a_step("b"), a_step("c", "a", "b")]


def look(text: str, request: ModelRequest) -> Turn:
    """An agent that calls a tool, and answers with its result."""
    last = request.messages[-1]
    if isinstance(last, ToolMessage):
        return Turn(text=f"found {last.text}", usage=USED)
    return Turn(calls=(("read", {"seconds": 1, "n": task_of(text)}),), usage=USED)


def test_steps_run_at_the_same_time_with_the_results_that_they_need() -> None:
    team = Team([FORK], work=look)

    async def work(bench: Bench) -> tuple[RunResult, int]:
        return await reach(bench, team), bench.world.most

    result, most = at_the_bench(work)
    output = output_of(result)

    assert (result.state, output["text"], most) == (NodeState.COMPLETED, "All done.", 2)
    assert output["calls"] == 3
    assert output["usage"]["requests"] == result.count_usage().requests == 9
    assert [item["role"] for item in output["messages"]] == ["user", "assistant"]
    last = next(text for role, text in team.asked if role == "work" and task_of(text) == "c")
    assert "Result of the step 'Step a':\nfound {" in last
    assert "Result of the step 'Step b':\nfound {" in last
    assert team.roles()[0] == "plan"
    assert team.roles()[-2:] == ["judge", "answer"]
    answered = team.asked[-1][1]
    assert "Step c (completed):\nfound {" in answered


def test_each_step_has_a_context_of_its_own() -> None:
    sizes: list[int] = []

    def work(text: str, request: ModelRequest) -> Turn:
        sizes.append(len(request.messages))
        return Turn(text="done")

    team = Team([FORK], work=work)
    history = [UserMessage(text="Hi"), AssistantMessage(text="Hello")]
    at_the_bench(lambda bench: reach(bench, team, history=history))

    assert sizes == [2, 2, 2]


def test_what_is_done_is_not_repeated_by_the_next_plan() -> None:
    second = [a_step("a"), a_step("d", "a", "b")]
    judgements = [a_judgement(achieved=False, missing="the price"), a_judgement()]
    team = Team([[a_step("a"), a_step("b")], second], judgements)
    result = at_the_bench(lambda bench: reach(bench, team))

    assert output_of(result)["text"] == "All done."
    works = [task_of(text) for role, text in team.asked if role == "work"]
    assert sorted(works) == ["a", "b", "d"]
    plan = [text for role, text in team.asked if role == "plan"][1]
    assert "What is still missing:\nthe price" in plan
    assert "- a (Step a), completed: result of a" in plan
    last = next(text for _, text in team.asked if task_of(text) == "d")
    assert "Result of the step 'Step b':\nresult of b" in last


def test_siblings_of_a_failed_step_finish_and_what_needs_it_is_skipped() -> None:
    def work(text: str, _request: ModelRequest) -> Turn:
        failed = Turn(error=Unavailable("no way", permanent=True))
        return failed if task_of(text) == "a" else Turn(text="fine")

    steps = [a_step("a"), a_step("b"), a_step("c", "a"), a_step("d", "b")]
    plans = [steps, [a_step("a")], [a_step("a")]]
    team = Team(plans, [a_judgement(achieved=False, missing="a")] * 3, work=work)
    output = output_of(at_the_bench(lambda bench: reach(bench, team)))

    states = {item["id"]: item["state"] for item in output["plan"]["steps"]}
    assert states == {"a": "failed", "b": "completed", "c": "skipped", "d": "completed"}
    assert output["text"] == "All done."
    assert team.roles().count("plan") == 3
    assert "Step a (failed):\nno way" in team.asked[-1][1]
    assert "Not reached, say so: a" in team.asked[-1][1]


def test_a_crash_repeats_no_plan_no_step_and_no_call_that_ended() -> None:
    def slow(text: str, request: ModelRequest) -> Turn:
        seconds = 0.5 if task_of(text) == "a" else 9
        if isinstance(request.messages[-1], ToolMessage):
            return Turn(text="done")
        return Turn(calls=(("read", {"n": task_of(text), "seconds": seconds}),))

    teams = [Team([[a_step("a"), a_step("b")]], work=slow), Team([], work=slow)]

    async def first(bench: Bench) -> RunResult:
        return await reach(bench, teams[0])

    async def again(bench: Bench) -> tuple[RunResult, list[Any], list[Any]]:
        goal_runner(bench, teams[1].model)
        result = await recovered(bench)
        began = [arguments["n"] for _, arguments, _ in bench.world.began]
        return result, began, reported(bench, "plan")

    result, began, plans = after_a_crash(first, again, at=3)

    assert result.output["text"] == "All done."
    assert sorted(began) == ["a", "b", "b"]
    assert teams[1].roles() == ["work", "judge", "answer"]
    assert plans == []


def test_an_approval_in_a_step_holds_up_only_that_step() -> None:
    def work(text: str, request: ModelRequest) -> Turn:
        if isinstance(request.messages[-1], ToolMessage):
            return Turn(text="paid")
        return Turn(calls=(("pay" if task_of(text) == "a" else "read", {}),))

    team = Team([[a_step("a"), a_step("b")]], work=work)

    async def run(bench: Bench) -> tuple[RunResult, RunResult]:
        waiting = await reach(bench, team)
        await bench.runner.answer(waiting.run_id, waiting.pending[0].id, {"answer": "deny"})
        return waiting, await bench.runner.result(waiting.run_id)

    waiting, done = at_the_bench(run, policy=Policy(ask=("pay",)))

    assert waiting.state is NodeState.WAITING
    assert [item.step for item in waiting.pending] == ["goal/round1/a/t1-0"]
    assert done.output["text"] == "All done."


def test_what_happens_is_reported_once_in_order() -> None:
    team = Team([[a_step("a"), a_step("b")]])

    async def work(bench: Bench) -> list[Any]:
        await reach(bench, team)
        return reported(bench)

    events = [(kind, data) for kind, data in at_the_bench(work) if kind != "text_delta"]
    own = [kind for kind, _ in events if kind in {"phase", "plan", "judgement"}]

    assert own == ["phase", "plan", "phase", "judgement"]
    plan = next(data for kind, data in events if kind == "plan")
    assert [step["id"] for step in plan["steps"]] == ["a", "b"]
    assert plan["round"] == 1


def test_cancelling_a_goal_cancels_its_steps() -> None:
    def work(text: str, _request: ModelRequest) -> Turn:
        return Turn(calls=(("read", {"n": task_of(text), "seconds": 9}),), usage=USED)

    team = Team([[a_step("a"), a_step("b")]], work=work)

    async def run(bench: Bench) -> RunResult:
        runner = goal_runner(bench, team.model)
        run_id = await runner.start(a_goal(), {"message": "Compare a and b."})
        await asyncio.sleep(1)
        await runner.cancel(run_id)
        return await runner.result(run_id)

    result = at_the_bench(run)

    assert result.state is NodeState.CANCELLED
    assert output_of(result)["usage"]["requests"] == 3
    assert [item["state"] for item in output_of(result)["plan"]["steps"]] == ["cancelled"] * 2
    assert team.roles() == ["plan", "work", "work"]


def test_a_goal_that_is_cancelled_keeps_what_its_steps_have_done() -> None:
    def work(text: str, request: ModelRequest) -> Turn:
        if task_of(text) == "a" or '"n":"a"' in text:
            return look(text, request)
        seconds = 9 if isinstance(request.messages[-1], ToolMessage) else 1
        return Turn(calls=(("read", {"n": "b", "seconds": seconds}),), usage=USED)

    team = Team([[a_step("a"), a_step("b")]], work=work)

    async def run(bench: Bench) -> RunResult:
        runner = goal_runner(bench, team.model)
        run_id = await runner.start(a_goal(), {"message": "Compare a and b."})
        await asyncio.sleep(2)
        await runner.cancel(run_id)
        return await runner.result(run_id)

    result = at_the_bench(run)
    (note,) = output_of(result)["messages"]

    assert result.state is NodeState.CANCELLED
    assert "Step a (completed):\nfound {" in note["text"]
    assert 'Step b (cancelled):\nthe run was cancelled\nCalled read {"n": "b"' in note["text"]


def slow(text: str, request: ModelRequest) -> Turn:
    """An agent that calls a tool for two seconds."""
    if any(isinstance(message, ToolMessage) for message in request.messages):
        return Turn(text=f"result of {task_of(text)}", usage=USED)
    return Turn(calls=(("read", {"seconds": 2, "n": task_of(text)}),), usage=USED)


async def steer(bench: Bench, team: Team) -> RunResult:
    """Work on a goal, and send it a message while its steps run."""
    runner = goal_runner(bench, team.model)
    run_id = await runner.start(a_goal(), {"message": "Compare a and b."})
    await asyncio.sleep(1)
    await runner.send(run_id, "steer", {"text": "in French"}, id="m2")
    return await runner.result(run_id)


def test_a_message_to_a_goal_reaches_the_steps_that_run_the_judge_and_the_answer() -> None:
    team = Team([[a_step("a"), a_step("b")]], work=slow)

    async def run(bench: Bench) -> tuple[RunResult, list[Any]]:
        return await steer(bench, team), reported(bench, "message_received")

    result, received = at_the_bench(run)
    output = output_of(result)

    works = [text for role, text in team.asked if role == "work"]
    assert ["in French" in text for text in works] == [False, False, True, True]
    assert "The person has sent this message about the larger goal" in works[-1]
    judged = next(text for role, text in team.asked if role == "judge")
    assert "The goal:\nCompare a and b.\n\nThe person has sent since:\n\nin French" in judged
    assert [data["message"] for _, data in received] == ["m2"]
    assert output["received"] == ["m2"]
    texts = [item["text"] for item in output["messages"]]
    assert (texts[0], texts[-1], len(texts)) == ("in French", "All done.", 3)


def test_a_message_to_a_goal_is_part_of_the_next_plan_and_told_its_steps_once() -> None:
    def work(text: str, request: ModelRequest) -> Turn:
        return slow(text, request) if task_of(text) != "c" else Turn(text="fait")

    plans = [[a_step("a"), a_step("b")], [a_step("c")]]
    judgements = [a_judgement(achieved=False, missing="the language"), a_judgement()]
    team = Team(plans, judgements, work=work)
    output = output_of(at_the_bench(lambda bench: steer(bench, team)))

    plan = [text for role, text in team.asked if role == "plan"][1]
    assert "The person has sent since:\n\nin French" in plan
    asked = [
        request
        for (role, _), request in zip(team.asked, team.model.requests, strict=True)
        if role == "work"
    ]
    last = [message.text for message in asked[-1].messages]
    assert "".join(last).count("in French") == 1
    assert output["received"] == ["m2"]


def test_a_message_is_not_lost_and_not_doubled_by_a_crash() -> None:
    teams = [Team([[a_step("a"), a_step("b")]], work=slow), Team([], work=slow)]

    async def again(bench: Bench) -> RunResult:
        goal_runner(bench, teams[1].model)
        return await recovered(bench)

    result = after_a_crash(lambda bench: steer(bench, teams[0]), again, at=1.5)
    output = output_of(result)

    assert output["received"] == ["m2"]
    assert [item["text"] for item in output["messages"]].count("in French") == 1
    works = [text for role, text in teams[1].asked if role == "work"]
    assert ["in French" in text for text in works] == [True, True]


def test_a_conversation_keeps_the_results_of_the_steps_for_what_follows() -> None:
    team = Team([[a_step("a"), a_step("b")]])
    note, answer = output_of(at_the_bench(lambda bench: reach(bench, team)))["messages"]

    assert note["is_note"] is True
    assert "Step a (completed):\nresult of a" in note["text"]
    assert answer["text"] == "All done."

    history = [UserMessage(text="Hi"), UserMessage(text=note["text"], is_note=True)]
    following = Team([[a_step("c"), a_step("d")]])
    at_the_bench(lambda bench: reach(bench, following, history=history))
    assert "Step a (completed):\nresult of a" in following.asked[0][1]


def test_a_model_that_calls_instead_of_answering_fails_the_goal() -> None:
    final = Turn(text="", calls=(("read", {}),))
    team = Team([[a_step("a"), a_step("b")]], final=final)
    result = at_the_bench(lambda bench: reach(bench, team))

    assert result.state is NodeState.FAILED
    assert "no answer" in (result.error or {})["message"]
    roles = [item["role"] for item in output_of(result)["messages"]]
    assert roles == ["user", "assistant", "tool"]


def test_a_goal_fails_when_nobody_can_plan_and_what_that_cost_counts() -> None:
    broken = Team([])
    broken.model = type(broken.model)(*[Turn(text="no", usage=USED)] * 9)
    result = at_the_bench(lambda bench: reach(bench, broken))

    assert (result.error or {})["code"] == "unavailable"
    assert output_of(result)["usage"]["input_tokens"] == 10 * len(broken.model.requests) > 0


def test_a_judgement_that_fails_counts_and_the_answer_is_written() -> None:
    team = Team([[a_step("a"), a_step("b")]], [{"achieved": "perhaps"}] * 3)
    output = output_of(at_the_bench(lambda bench: reach(bench, team)))

    assert output["text"] == "All done."
    assert team.roles().count("judge") == 3
    assert output["usage"]["requests"] == 7


def without_end(text: str, request: ModelRequest) -> Turn:
    """An agent that goes on calling a tool, with other arguments each time."""
    arguments = {"seconds": 1, "n": f"{task_of(text)}{len(request.messages)}"}
    used = ModelUsage(requests=1, input_tokens=10, cost=0.25)
    return Turn(calls=(("read", arguments),), usage=used)


@pytest.mark.parametrize(
    ("limits", "message", "turns"),
    [
        (AgentLimits(turns=5), "5 turns", 5),
        (AgentLimits(calls=4), "4 calls", 4),
        (AgentLimits(tokens=50), "50 tokens", 4),
        (AgentLimits(cost=1.0), "1.0 cost", 4),
        (AgentLimits(seconds=2.5), "2.5 seconds", 6),
    ],
    ids=["turns", "calls", "tokens", "cost", "seconds"],
)
def test_the_limits_of_a_goal_hold_for_its_steps_together_while_they_run(
    limits: AgentLimits, message: str, turns: int
) -> None:
    team = Team([[a_step("a"), a_step("b")]], work=without_end)
    team.used = ModelUsage(requests=1, input_tokens=10, cost=0.0)
    result = at_the_bench(lambda bench: reach(bench, team, limits=limits))

    assert result.state is NodeState.FAILED
    assert (result.error or {})["code"] == "limit_reached"
    assert (result.error or {})["message"] == f"The goal has reached its limit of {message}."
    assert team.roles() == ["plan", *["work"] * turns]
    output = output_of(result)
    assert {item["state"] for item in output["plan"]["steps"]} == {"failed"}
    assert output["usage"]["requests"] == turns + 1


def test_what_was_used_before_a_crash_counts() -> None:
    def work(text: str, request: ModelRequest) -> Turn:
        return Turn(text="done") if task_of(text) == "a" else without_end(text, request)

    teams = [Team([[a_step("a"), a_step("b")]], work=work), Team([], work=work)]
    limits = AgentLimits(turns=5)

    async def again(bench: Bench) -> RunResult:
        goal_runner(bench, teams[1].model, limits=limits)
        return await recovered(bench)

    result = after_a_crash(lambda bench: reach(bench, teams[0], limits=limits), again, at=1.5)

    assert (result.error or {})["message"] == "The goal has reached its limit of 5 turns."
    assert [team.roles().count("work") for team in teams] == [3, 2]


def test_auto_answers_a_question_without_a_plan() -> None:
    team = Team([], engine="react")
    message = "Which of the two is the older one, and by how many years?"
    result = at_the_bench(lambda bench: reach(bench, team, message, engine="auto"))
    output = output_of(result)

    assert team.roles() == ["route", "work"]
    assert output["usage"]["requests"] == result.count_usage().requests == 2
    assert [item["role"] for item in output["messages"]] == ["assistant"]


@pytest.mark.parametrize(
    ("engine", "roles"),
    [("react", ["work"]), ("auto", ["route", "plan"]), ("dag", ["plan", "work"])],
)
def test_the_agent_says_which_engine_where_the_node_leaves_it_open(
    engine: str, roles: list[str]
) -> None:
    team = Team([[a_step("a"), a_step("b")]])

    async def work(bench: Bench) -> None:
        runner = goal_runner(bench, team.model, engine=engine)
        await runner.run(a_goal("own"), {"message": "Compare the two of them, please."})

    at_the_bench(work)

    assert team.roles()[:2] == roles


def test_the_form_of_an_answer_is_that_of_the_goal_not_of_its_steps() -> None:
    final = [Turn(text="Both."), Turn(text='{"n": 2}')]
    team = Team([[a_step("a"), a_step("b")]], final=final)
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    settings = {"temperature": 0.5, "stop": ["END"], "max_output": 9}
    config = {"output_schema": schema, "settings": settings}
    output = output_of(at_the_bench(lambda bench: reach(bench, team, config=config)))

    assert output["text"] == '{"n":2}'
    asked = {
        role: request for (role, _), request in zip(team.asked, team.model.requests, strict=True)
    }
    assert asked["work"].settings == ModelSettings(temperature=0.5)
    assert asked["work"].output_schema is None
    assert "JSON Schema" not in asked["work"].messages[0].text
    assert asked["answer"].settings == ModelSettings(temperature=0.5, stop=("END",), max_output=9)
    assert asked["answer"].output_schema == schema
    assert "no JSON object" in asked["answer"].messages[-1].text
