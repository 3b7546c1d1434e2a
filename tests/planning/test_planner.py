from collections.abc import Sequence
from typing import Any

import pytest
from tests.planning.board import a_tool

from pegboard.access import Policy
from pegboard.core.graph import Edge, Fallback
from pegboard.core.principal import Principal
from pegboard.core.tool import Effect, Tool
from pegboard.errors import CannotPlan, ToolNotFound
from pegboard.planning import ChainLink, Plan, Planner, PlanRequest
from pegboard.planning.tool_health import UNKNOWN, ToolHealth
from pegboard.registry import ToolRegistry

FETCH = a_tool("web_fetcher", {"url": "string"}, {"content": "string"}, capabilities=("fetch",))
CLEAN = a_tool(
    "text_cleaner",
    {"text": "string"},
    {"cleaned_text": "string"},
    capabilities=("clean",),
    dependencies=("web_fetcher_v1",),
    version="2.0.0",
)
SUM = a_tool(
    "summarizer_llm",
    {"text": "string"},
    {"summary": "string"},
    capabilities=("summarize",),
    supported_tasks=("summarize_webpage",),
    dependencies=("text_cleaner_v2",),
    version="3.1.0",
)
URL = {"url": "https://example.com"}


def plan(tools: Sequence[Tool], **request: Any) -> Plan:
    return Planner(ToolRegistry(tools), new_id=lambda: "plan_1").plan(PlanRequest(**request))


def test_a_task_becomes_the_steps_that_its_tool_needs_wired_by_name_and_type() -> None:
    """The example of RFC-0003."""
    made = plan([SUM, FETCH, CLEAN], goal="summarize_webpage", params=URL, task_id="task_123")

    assert (made.mode, made.graph.id, made.graph.task_id) == ("direct", "plan_1", "task_123")
    assert [(node.id, node.input, node.edges) for node in made.graph] == [
        ("web_fetcher", {"url": "$.params.url"}, ()),
        (
            "text_cleaner",
            {"text": "$.steps.web_fetcher.output.content"},
            (Edge(node="web_fetcher"),),
        ),
        (
            "summarizer_llm",
            {"text": "$.steps.text_cleaner.output.cleaned_text"},
            (Edge(node="text_cleaner"),),
        ),
    ]
    assert [node.inferred for node in made.graph] == [
        {"url": "same name and type"},
        {"text": "the only value of 'web_fetcher' whose type fits"},
        {"text": "the only value of 'text_cleaner' whose type fits"},
    ]
    assert [(item.step, item.wanted) for item in made.choices] == [
        ("web_fetcher", "text_cleaner"),
        ("text_cleaner", "summarizer_llm"),
        ("summarizer_llm", "summarize_webpage"),
    ]
    assert made.notes == ()


@pytest.mark.parametrize("goal", ["web_fetcher", "web_fetcher_v1", "Web Fetcher", "web-fetcher"])
def test_a_goal_may_name_a_tool(goal: str) -> None:
    made = plan([FETCH, SUM], goal=goal, params=URL)

    assert [node.tool for node in made.graph] == ["web_fetcher_v1"]


def test_capabilities_are_put_in_an_order_that_their_inputs_allow() -> None:
    tools = [
        a_tool("fetch", {"url": "string"}, {"content": "string"}, capabilities=("fetch",)),
        a_tool("sum", {"content": "string"}, {"summary": "string"}, capabilities=("sum",)),
    ]

    made = plan(tools, capabilities=("sum", "fetch"), params=URL)

    assert [(node.id, node.depends_on) for node in made.graph] == [
        ("fetch", ()),
        ("sum", ("fetch",)),
    ]
    assert made.mode == "capabilities"


def test_steps_that_take_nothing_from_each_other_wait_for_nobody() -> None:
    tools = [
        a_tool("a", {"url": "string"}, {"x": "string"}, capabilities=("a",)),
        a_tool("b", {"url": "string"}, {"y": "string"}, capabilities=("b",)),
    ]

    assert [node.edges for node in plan(tools, capabilities=("a", "b"), params=URL).graph] == [
        (),
        (),
    ]


class Known:
    def __init__(self, **known: ToolHealth) -> None:
        self._known = known

    def health_of(self, tool: str) -> ToolHealth:
        return self._known.get(tool, UNKNOWN)


def test_the_best_candidate_is_taken_and_the_next_ones_are_its_fallbacks() -> None:
    names = ("slow", "sick", "good", "blind", "dear")
    tools = [
        a_tool(name, {"url": "string"}, {"content": "string"}, capabilities=("fetch",))
        for name in names
        if name != "blind"
    ]
    tools.append(a_tool("blind", {"key": "integer"}, capabilities=("fetch",)))
    knowledge = Known(
        slow=ToolHealth(health="healthy", latency_ms=9_000),
        sick=ToolHealth(health="unhealthy", reason="HTTP 503"),
        good=ToolHealth(health="healthy", latency_ms=40, cost=0.001, failures=0.01),
        dear=ToolHealth(health="healthy", latency_ms=40, cost=5.0, failures=0.5),
    )

    made = Planner(ToolRegistry(tools), knowledge=knowledge).plan(
        PlanRequest(capabilities=("fetch",), params=URL)
    )

    (node,), (choice,) = made.graph.nodes, made.choices
    own = {"url": "$.params.url"}
    assert node.tool == "good_v1"
    assert node.fallbacks == (
        Fallback(tool="slow_v1", input=own),
        Fallback(tool="dear_v1", input=own),
    )
    assert choice.alternatives == ("slow", "dear", "sick", "blind")
    assert "healthy, 1 % of its calls failed lately, usually 40 ms" in choice.reason


def test_between_equals_the_one_that_changes_nothing_is_taken() -> None:
    tools = [
        a_tool("a", {}, capabilities=("x",), effect=Effect.WRITE),
        a_tool("b", {}, capabilities=("x",)),
    ]

    assert plan(tools, capabilities=("x",)).graph.nodes[0].tool == "b_v1"


def test_a_chain_is_one_step_that_tries_one_tool_after_another() -> None:
    backup = a_tool("archive", {"address": "string", "year": "integer"})
    made = plan(
        [FETCH, backup],
        chain=(
            ChainLink(tool="web_fetcher_v1"),
            ChainLink(tool="archive", input={"address": "$.params.url", "year": 2020}),
        ),
        params=URL,
    )

    (node,) = made.graph.nodes
    assert (node.tool, node.input) == ("web_fetcher_v1", {"url": "$.params.url"})
    assert node.fallbacks == (
        Fallback(tool="archive_v1", input={"address": "$.params.url", "year": 2020}),
    )


def test_two_steps_with_one_action_have_their_own_ids() -> None:
    tools = [
        a_tool("shop__find", {}, capabilities=("a",), source="shop"),
        a_tool("wiki__find", {}, capabilities=("b",), source="wiki"),
    ]

    made = plan(tools, capabilities=("a", "b"))

    assert [node.id for node in made.graph] == ["find", "find_2"]


def test_what_nothing_gives_is_a_note() -> None:
    made = plan([FETCH], goal="web_fetcher")

    assert made.graph.nodes[0].input == {}
    (note,) = made.notes
    assert note.startswith("Step 'web_fetcher': nothing gives 'url' of 'web_fetcher'; give it as")


def test_what_is_needed_and_not_there_is_a_note() -> None:
    made = plan([CLEAN], goal="text_cleaner", params={"text": "x"})

    assert made.notes == (
        "'text_cleaner' needs 'web_fetcher_v1', which is not there; it is left out.",
    )


def test_what_a_missing_tool_would_have_given_is_not_guessed() -> None:
    made = plan([CLEAN], goal="text_cleaner", params={"address": "x"})

    assert made.graph.nodes[0].input == {}
    assert made.notes[0] == (
        "'text_cleaner' needs 'web_fetcher_v1', which is not there; it is left out."
    )
    assert made.notes[1].startswith("Step 'text_cleaner': nothing gives 'text'")
    whole = plan([FETCH, CLEAN], goal="text_cleaner", params={"url": "x"})
    assert whole.graph.nodes[1].input == {"text": "$.steps.web_fetcher.output.content"}


def test_what_the_caller_may_not_call_is_in_no_plan() -> None:
    secret = a_tool("vault", {}, capabilities=("open",), scopes=("vault",))
    needing = a_tool("door", {}, dependencies=("vault_v1",))
    planner = Planner(ToolRegistry([secret, needing]))
    guest = Principal(id="guest", scopes=frozenset())

    with pytest.raises(CannotPlan, match="capability 'open'"):
        planner.plan(PlanRequest(capabilities=("open",)), principal=guest)
    made = planner.plan(PlanRequest(goal="door"), principal=guest)

    assert [node.tool for node in made.graph] == ["door_v1"]
    assert made.notes == ("'door' needs 'vault', which the caller may not call.",)


def test_what_needs_an_approval_may_be_in_a_plan() -> None:
    registry = ToolRegistry([FETCH], policy=Policy(ask=("web_fetcher",)))

    assert Planner(registry).plan(PlanRequest(goal="web_fetcher", params=URL)).graph.nodes


def test_tools_that_need_each_other_are_told() -> None:
    one = a_tool("one", {}, dependencies=("two_v1",))
    two = a_tool("two", {}, dependencies=("one_v1",))

    with pytest.raises(CannotPlan, match="one needs two needs one"):
        plan([one, two], goal="one")


@pytest.mark.parametrize(
    ("request_", "message"),
    [
        ({"goal": "summarize_webpag"}, "Near are summarize_webpage"),
        (
            {"goal": "zzz"},
            "No tool .* is named 'zzz', or has it among its supported_tasks or capabilities",
        ),
        ({"capabilities": ("fetch", "fetsh")}, r"capability 'fetsh' \(near: fetch\)"),
    ],
    ids=["near", "far", "capability"],
)
def test_what_nobody_answers_is_told_with_what_is_near(
    request_: dict[str, Any], message: str
) -> None:
    with pytest.raises(CannotPlan, match=message):
        plan([FETCH, SUM], **request_)


def test_a_goal_that_names_several_tools_is_told() -> None:
    tools = [a_tool("a__find", {}, source="a"), a_tool("b__find", {}, source="b")]

    with pytest.raises(CannotPlan, match="several tools: write one of a__find, b__find"):
        plan(tools, goal="find")


def test_a_chain_of_an_unknown_tool_is_told() -> None:
    with pytest.raises(ToolNotFound, match="web_fetcher"):
        plan([FETCH], chain=(ChainLink(tool="web_fetchr"),))


def test_prerequisites_may_come_from_elsewhere() -> None:
    registry = ToolRegistry([FETCH, SUM])
    needs = {"summarizer_llm_v3": ("web_fetcher_v1",)}

    made = Planner(registry, prerequisites=lambda tool: needs.get(tool, ())).plan(
        PlanRequest(goal="summarizer_llm", params=URL)
    )

    assert [node.tool for node in made.graph] == ["web_fetcher_v1", "summarizer_llm_v3"]
    assert made.graph.id.startswith("plan_")


@pytest.mark.parametrize("order", [("summarize", "fetch"), ("fetch", "summarize")])
def test_what_a_step_needs_is_no_second_step_for_its_capability(order: tuple[str, str]) -> None:
    takes, gives = {"url": "string"}, {"content": "string"}
    fetchers = [a_tool(name, takes, gives, capabilities=("fetch",)) for name in ("a", "web")]
    needing = a_tool(
        "sum", {"text": "string"}, capabilities=("summarize",), dependencies=("web_v1",)
    )

    made = plan([*fetchers, needing], capabilities=order, params=URL)

    assert [(node.id, node.input) for node in made.graph] == [
        ("web", {"url": "$.params.url"}),
        ("sum", {"text": "$.steps.web.output.content"}),
    ]
    assert [item.tool for item in made.graph.nodes[0].fallbacks] == ["a_v1"]


def test_what_a_step_needs_says_which_capability_it_has() -> None:
    made = plan([CLEAN, FETCH], capabilities=("clean", "fetch"), params=URL)

    assert "capability 'fetch'" in made.choices[0].reason
    assert [node.id for node in made.graph] == ["web_fetcher", "text_cleaner"]


def test_one_tool_with_two_capabilities_is_one_step_and_a_better_one_is_another() -> None:
    both = a_tool("both", {}, capabilities=("a", "b"))
    knowledge = Known(other=ToolHealth(health="healthy"))
    better = Planner(
        ToolRegistry([both, a_tool("other", {}, capabilities=("b",))]), knowledge=knowledge
    ).plan(PlanRequest(capabilities=("a", "b")))

    assert [node.id for node in plan([both], capabilities=("a", "b")).graph] == ["both"]
    assert [node.id for node in better.graph] == ["both", "other"]


def a_board_that_went_on() -> ToolRegistry:
    """`shout` in its second version on the board, its first one by its id."""
    registry = ToolRegistry()
    for takes in ({"tag": "string"}, {"tag": "integer"}):
        made = registry.versions.register(a_tool("shout", takes))
        registry.add(made, on_conflict="replace")
    return registry


@pytest.mark.parametrize(
    ("goal", "tool"), [("shout_v1", "shout_v1"), ("shout@1", "shout_v1"), ("shout", "shout_v2")]
)
def test_a_goal_may_name_an_older_version(goal: str, tool: str) -> None:
    made = Planner(a_board_that_went_on()).plan(PlanRequest(goal=goal, params={"tag": "x"}))

    assert [node.tool for node in made.graph] == [tool]


def test_an_older_version_may_be_needed() -> None:
    registry = a_board_that_went_on()
    registry.add(a_tool("echo", {}, dependencies=("shout_v1",)))

    made = Planner(registry).plan(PlanRequest(goal="echo", params={"tag": "x"}))

    assert [node.tool for node in made.graph] == ["shout_v1", "echo_v1"]
    assert made.notes == ()


def test_an_argument_is_not_guessed_where_a_prerequisite_does_not_say_what_it_returns() -> None:
    fetch = a_tool("fetch", {"url": "string"}, None)
    sum_up = a_tool("sum_up", {"text": "string"}, dependencies=("fetch_v1",))

    made = plan([fetch, sum_up], goal="sum_up", params=URL)

    assert [(node.id, node.input) for node in made.graph] == [
        ("fetch", {"url": "$.params.url"}),
        ("sum_up", {}),
    ]
    [note] = made.notes
    assert "nothing gives 'text' of 'sum_up' ('fetch' may, but has no output schema)" in note


def test_a_goal_that_equals_a_capability_is_planned_by_it() -> None:
    made = plan([SUM, FETCH, CLEAN], goal="clean", params=URL)

    assert made.mode == "capabilities"
    assert [node.id for node in made.graph] == ["web_fetcher", "text_cleaner"]


def test_a_list_of_capabilities_says_that_it_sets_no_order_for_what_writes() -> None:
    read = a_tool("read", {"url": "string"}, {"content": "string"}, capabilities=("read",))
    send = a_tool("send", {"url": "string"}, capabilities=("send",), effect=Effect.WRITE)

    both = plan([read, send], capabilities=("read", "send"), params=URL)
    alone = plan([read, send], capabilities=("send",), params=URL)

    [note] = both.notes
    assert note.startswith("Step 'send' is of effect write and takes nothing from other steps")
    assert alone.notes == ()


def test_the_tool_for_one_call_is_chosen_by_its_inputs_and_its_health() -> None:
    tools = [
        a_tool("broken", {"url": "string"}, capabilities=("fetch",)),
        a_tool("well", {"url": "string"}, capabilities=("fetch",)),
        a_tool("other", {"page": "string"}, capabilities=("fetch",)),
    ]
    knowledge = Known(broken=ToolHealth(health="unhealthy"), well=ToolHealth(health="healthy"))
    planner = Planner(ToolRegistry(tools), knowledge=knowledge)

    by_url, by_page = (planner.choose("fetch", params) for params in (URL, {"page": "1"}))

    assert by_url is not None
    assert by_url.spec.name == "well"
    assert by_page is not None
    assert by_page.spec.name == "other"
    assert planner.choose("paint", {}) is None


def test_a_param_of_the_wrong_type_is_told_and_no_other_takes_its_place() -> None:
    area = a_tool("area", {"width": "number", "height": "number"})

    made = plan([area], goal="area", params={"width": [2], "height": 3})

    assert made.graph.nodes[0].input == {"height": "$.params.height"}
    assert made.notes == (
        "Step 'area': the param 'width' cannot be 'width' of 'area': expected number, got array.",
    )


@pytest.mark.parametrize(
    ("request_", "notes"),
    [
        ({"goal": "read"}, ("No step takes the param 'limt'; did you mean 'limit'?",)),
        ({"chain": (ChainLink(tool="read", input={"url": "{{ params.limt }}"}),)}, ()),
        ({"chain": (ChainLink(tool="read", input={"url": "$.params"}),)}, ()),
        (
            {"chain": (ChainLink(tool="read", input={"url": "$.nope"}),)},
            ("No step takes the param 'limt'; did you mean 'limit'?",),
        ),
    ],
    ids=["misspelt", "in a template", "as a whole", "beside a malformed path"],
)
def test_a_param_that_no_step_takes_is_a_note(
    request_: dict[str, Any], notes: tuple[str, ...]
) -> None:
    read = a_tool("read", {"url": "string", "limit": "integer"}, optional=("url", "limit"))

    assert plan([read], params={"limt": 5}, **request_).notes == notes
