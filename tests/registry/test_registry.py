"""One registry: what is on it, who sees it, what calling it gives."""

import asyncio
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.access.made import POLICIES, PRINCIPALS, SPECS, switches
from tests.execution.made import Heard
from tests.registry.made import a_tool, add, wait

from pegboard import BaseTool, Policy, Principal, SchemaTool, ToolContext, ToolRegistry, tool
from pegboard.access import Switches, decide
from pegboard.core.decision import Action, Verdict
from pegboard.core.result import ToolResult
from pegboard.core.tool import AGENT, Effect, Limits, Status, ToolSpec
from pegboard.errors import (
    AccessDenied,
    CallerError,
    ConfigError,
    DuplicateTool,
    HandleNotFound,
    InvalidRequest,
    SyncUse,
    ToolArgumentError,
    ToolNotFound,
    ToolSignatureError,
)
from pegboard.execution.environment import CallEnvironment
from pegboard.execution.results.redaction import make_redactor
from pegboard.registry.search import ToolQuery

ADA = Principal(id="ada", tenant="acme")


class Shout(BaseTool):
    name = "shout"
    description = "Say it loudly."
    parameters_schema = {
        "type": "object",
        "properties": {"text": {"type": "string"}},
        "required": ["text"],
    }

    def run(self, **arguments: Any) -> str:
        return arguments["text"].upper()


# what exists


def test_whatever_can_be_a_tool_is_registered_in_order() -> None:
    registry = ToolRegistry([add, Shout(), a_tool("raw")])

    assert registry.names() == ("add", "shout", "raw")
    assert [item.spec.name for item in registry] == ["add", "shout", "raw"]
    assert len(registry) == 3
    assert repr(registry) == "ToolRegistry(3 tools)"
    assert ("add" in registry, "add_v1" in registry, "nobody" in registry) == (True, True, False)
    assert 5 not in registry
    assert registry.find("add_v1") is registry.get("add")
    assert registry.find("nobody") is None


def test_what_cannot_be_a_tool_is_refused() -> None:
    with pytest.raises(ToolSignatureError):
        ToolRegistry([17])


def test_a_name_that_is_taken_is_an_error_unless_the_last_one_shall_win() -> None:
    first, second = a_tool("find", source="shop"), a_tool("find", source="crm")
    registry = ToolRegistry([first])

    with pytest.raises(DuplicateTool):
        registry.add(second)
    registry.add(second, replace=True)

    assert registry.get("find") is second
    assert ToolRegistry([first, second], on_conflict="replace").get("find") is second


@pytest.mark.parametrize("name", ["find", "find_v1"])
async def test_a_replaced_tool_is_called_no_more_by_whatever_name(name: str) -> None:
    registry = ToolRegistry([a_tool("find", answer="old")])
    before = (await registry.call(name)).text
    registry.add(a_tool("find", answer="new"), on_conflict="replace")

    assert (before, (await registry.call(name)).text) == ("old", "new")


@pytest.mark.parametrize("name", ["find", "find_v1"])
async def test_a_removed_tool_is_gone_by_whatever_name(name: str) -> None:
    registry = ToolRegistry([a_tool("find")])
    await registry.call(name)
    registry.remove("find")

    assert isinstance((await registry.call(name)).error, ToolNotFound)
    with pytest.raises(ToolNotFound):
        registry.get("find")
    with pytest.raises(ToolNotFound):
        registry.remove("find")


async def test_an_id_may_come_to_mean_another_tool() -> None:
    registry = ToolRegistry([a_tool("find", answer="by id")])
    before = (await registry.call("find_v1")).text
    registry.add(a_tool("find_v1", answer="by name"))

    assert (before, (await registry.call("find_v1")).text) == ("by id", "by name")


async def test_a_cached_answer_is_not_that_of_the_tool_before() -> None:
    registry = ToolRegistry([a_tool("find", answer="old", cacheable=True)])
    await registry.call("find")
    registry.add(a_tool("find", answer="new", cacheable=True), on_conflict="replace")

    assert (await registry.call("find")).text == "new"


def test_what_happens_on_a_conflict_is_one_of_two_things() -> None:
    wish: Any = "last"

    with pytest.raises(InvalidRequest, match="'error' or 'replace', not 'last'"):
        ToolRegistry(on_conflict=wish)


def test_a_tool_is_registered_under_the_name_of_its_spec() -> None:
    class Foreign:
        name = "A Name For People"
        spec = a_tool("wire_name").spec

        async def run(self, arguments: Any, ctx: Any) -> None:
            return None

    assert ToolRegistry([Foreign()]).names() == ("wire_name",)


def test_registering_builds_neither_specs_nor_schemas() -> None:
    def fresh(number: int) -> Any:
        @tool(name=f"t{number}")
        def made(a: int) -> int:
            return a

        return made

    registry = ToolRegistry([fresh(number) for number in range(50)])

    assert all("_spec" not in vars(item) for item in registry)


def test_registering_costs_the_same_for_each_of_many_tools() -> None:
    def calls_made(count: int) -> float:
        tools = [a_tool(f"t{number}") for number in range(count)]
        counted = 0

        def profile(_frame: Any, event: str, _argument: Any) -> None:
            nonlocal counted
            counted += event in {"call", "c_call"}

        sys.setprofile(profile)
        try:
            ToolRegistry(tools)
        finally:
            sys.setprofile(None)
        return counted / count

    assert calls_made(1000) < calls_made(10) * 1.05


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"tools": [], "policy": {"deny": ["a*"]}}, r"write policy=Policy\(deny="),
        ({"tools": print}, r"write ToolRegistry\(\[\.\.\.\]\)"),
    ],
    ids=["a mapping as policy", "one tool"],
)
def test_what_a_registry_is_not_made_of_is_told(given: dict[str, Any], says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        ToolRegistry(**given)


def test_policy_and_listeners_cannot_be_combined_with_an_environment() -> None:
    for options in ({"policy": Policy(deny=("*",))}, {"listeners": [Heard()]}):
        with pytest.raises(ConfigError, match="cannot be combined with 'environment'"):
            ToolRegistry(environment=CallEnvironment(), **options)  # type: ignore[arg-type]  # one of two options at a time


# who sees it


def test_hidden_tools_are_neither_listed_nor_found_nor_named() -> None:
    registry = ToolRegistry(
        [
            a_tool("shop__find", "orders"),
            a_tool("shop__fund", "orders", status=Status.DISABLED),
            a_tool("shop__fond", "orders", scopes=("money",)),
        ],
        policy=Policy(deny=("shop__f?nz",)),
    )

    assert [item.spec.name for item in registry.visible(ADA)] == ["shop__find"]
    assert [item.spec.name for item in registry.search("orders", principal=ADA)] == ["shop__find"]
    assert registry.nearest("shop__fnd", ADA) == ("shop__find",)
    assert [item["function"]["name"] for item in registry.openai_tools(principal=ADA)] == [
        "shop__find"
    ]
    with pytest.raises(ToolNotFound) as caught:
        registry.get("shop__fnd", principal=ADA)
    assert caught.value.nearest == ("shop__find",)


def test_an_agent_is_visible_and_no_model_is_shown_it() -> None:
    spec = ToolSpec(name="helper", description="Helps.", input_schema={}, handler=AGENT)
    registry = ToolRegistry([SchemaTool(spec=spec, run=_run)])

    assert [item.spec.name for item in registry.visible()] == ["helper"]
    assert registry.visible_to_models() == registry.openai_tools() == []


async def _run(_arguments: Any, _ctx: Any) -> None: ...


async def test_an_unknown_name_does_not_tell_of_hidden_tools() -> None:
    registry = ToolRegistry([a_tool("shop__fund", scopes=("money",))])

    result = await registry.call("shop__fnd", None, ToolContext(principal=ADA))

    assert result.text == "Tool 'shop__fnd' not found."


def test_a_hidden_tool_is_explained() -> None:
    told = ToolRegistry([add], policy=Policy(deny=("add",))).explain("add", principal=ADA)

    assert (told.visible, told.call.verdict, told.call.rule) == (
        False,
        Verdict.DENY,
        "policy.deny[0]",
    )
    with pytest.raises(ToolNotFound):
        ToolRegistry().explain("add")


def test_search_filters_and_ranks() -> None:
    registry = ToolRegistry(
        [
            a_tool("s1", "orders of the shop, and much else beside them", category="web"),
            a_tool("s2", "orders", category="web"),
            a_tool("s3", "the orders that came in", category="database"),
        ]
    )

    def names(query: Any) -> list[str]:
        return [item.spec.name for item in registry.search(query)]

    assert names("orders") == ["s2", "s3", "s1"]
    assert names(ToolQuery(query="orders", category="web")) == ["s2", "s1"]
    assert names(ToolQuery(category="web")) == ["s1", "s2"]
    assert names(ToolQuery(query=" ", limit=2)) == ["s1", "s2"]
    assert names("") == ["s1", "s2", "s3"]


@pytest.mark.parametrize("count", [1, 120])
async def test_a_search_is_prepared_for_many_changes_and_for_few(count: int) -> None:
    registry = ToolRegistry([a_tool(f"t{number}", "orders") for number in range(count)])
    await registry.prepare_search()

    assert registry._catalogue.not_indexed == 0
    assert len(registry.search(ToolQuery(query="orders", limit=count))) == count


def test_search_follows_what_is_added_and_removed() -> None:
    registry = ToolRegistry([a_tool("a", "orders")])
    before = registry.search("orders")
    other = registry.add(a_tool("b", "orders"))
    registry.remove("a")

    assert len(before) == 1
    assert registry.search("orders") == [other]


@pytest.mark.slow
@given(PRINCIPALS, st.lists(SPECS, max_size=6), POLICIES, switches(), st.sampled_from(["", "shop"]))
def test_what_is_shown_is_never_what_would_be_denied(
    principal: Principal, specs: list[ToolSpec], policy: Policy, off: Switches, query: str
) -> None:
    async def run(_arguments: Any, _ctx: Any) -> None:
        return None

    registry = ToolRegistry(
        [SchemaTool(spec=spec, run=run) for spec in specs],
        on_conflict="replace",
        environment=CallEnvironment(policy=policy, switches=off),
    )
    denied = {
        item.spec.name
        for item in registry
        if decide(principal, item.spec, Action.CALL, policy=policy, switches=off).verdict
        is Verdict.DENY
    }

    visible = {item.spec.name for item in registry.visible(principal)}
    found = {item.spec.name for item in registry.search(query, principal=principal)}

    assert visible == set(registry.names()) - denied
    assert found <= visible
    assert not denied & set(registry.nearest("shop__fin", principal))


# what calling it gives


@pytest.mark.parametrize(
    "arguments", [{"a": 2}, '{"a": 2}', b'{"a": 2}', {"a": "2"}, '{"a": 2, "b": "1"}'], ids=str
)
async def test_arguments_come_as_mapping_or_json(arguments: Any) -> None:
    registry = ToolRegistry([add])

    assert (await registry.call("add", arguments)).unwrap() == 3
    assert registry.call_sync("add", arguments).unwrap() == 3


@pytest.mark.parametrize("arguments", [None, "", b"", {}, "{}"], ids=repr)
async def test_a_tool_without_parameters_needs_no_arguments(arguments: Any) -> None:
    assert (await ToolRegistry([wait]).call("wait", arguments)).unwrap() == "waited"


async def test_unwrapping_raises_the_typed_error() -> None:
    registry = ToolRegistry([add], policy=Policy(deny=("other",)))

    with pytest.raises(ToolArgumentError):
        (await registry.call("add", {"a": "x"})).unwrap()
    with pytest.raises(ToolNotFound):
        (await registry.call("nobody")).unwrap()


async def test_switches_hold_from_the_next_call_on() -> None:
    registry = ToolRegistry([add, a_tool("pay", effect=Effect.WRITE, source="shop")])
    registry.switches.turn_off(writes=True)
    pay, plus = await registry.call_many([("pay", None), ("add", {"a": 1})])
    registry.switches.turn_on(writes=True)

    assert isinstance(pay.error, AccessDenied)
    assert plus.unwrap() == 2
    assert not (await registry.call("pay")).is_error


async def test_another_kit_holds_from_the_next_call_on() -> None:
    heard = Heard()
    registry = ToolRegistry([add], listeners=[heard])
    await registry.call("add", {"a": 1})
    registry.apply(CallEnvironment(policy=Policy(deny=("add",))))

    assert isinstance((await registry.call("add", {"a": 1})).error, AccessDenied)
    assert registry.environment.policy.deny == ("add",)
    assert registry.visible() == []
    assert len(heard.records) == 1


@pytest.mark.parametrize("name", ["wait", "wait_v1"])
def test_an_async_tool_on_the_sync_surface_is_refused_at_once(name: str) -> None:
    registry = ToolRegistry([wait, add])

    with pytest.raises(SyncUse, match=r"use 'await registry\.call"):
        registry.call_sync(name)
    with pytest.raises(ValueError, match="async tool"):
        registry.call_many_sync([("add", {"a": 1}), (name, None)])


def test_what_runs_behind_a_raw_schema_works_on_the_sync_surface() -> None:
    registry = ToolRegistry([a_tool("find"), Shout()])

    results = registry.call_many_sync(
        [("find", None), ("shout", {"text": "hi"}), ("nobody", None), ("shout", {})]
    )

    assert [result.text for result in results[:2]] == ["find", "HI"]
    assert [type(result.error) for result in results[2:]] == [ToolNotFound, ToolArgumentError]


async def test_a_large_result_is_read_page_by_page_and_moved_by_its_handle() -> None:
    @tool(effect="read", max_result_bytes=200)
    def rows() -> list[int]:
        return list(range(500))

    @tool(effect="read")
    def total(numbers: list[int], nested: dict[str, list[int]] | None = None) -> int:
        return sum(numbers) + sum((nested or {}).get("more", []))

    registry = ToolRegistry([rows, total])
    mine: ToolContext[Any] = ToolContext(principal=ADA)
    result = await registry.call("rows", None, mine)
    handle = result.meta.handle
    pages = [await registry.read_result(handle, page=1, ctx=mine)]
    pages += [
        await registry.read_result(handle, page=number, ctx=mine)
        for number in range(2, pages[0].pages + 1)
    ]
    arguments = {"numbers": handle, "nested": {"more": handle}}

    assert "".join(page.text for page in pages) == str(list(range(500))).replace(" ", "")
    assert f"page 1 of {len(pages)};" in result.text
    assert (await registry.call("total", arguments, mine)).unwrap() == 2 * sum(range(500))
    with pytest.raises(HandleNotFound):
        await registry.read_result(handle)
    stranger = await registry.call("total", arguments)
    assert isinstance(stranger.error, HandleNotFound)


async def test_limits_of_a_tool_hold_over_all_surfaces() -> None:
    @tool(effect="read", limits=Limits(concurrency=1), inline=True)
    def one() -> int:
        return 1

    registry = ToolRegistry([one])
    results = await registry.call_many([("one", None)] * 20)
    results.append(await asyncio.to_thread(registry.call_sync, "one"))

    assert [result.unwrap() for result in results] == [1] * 21


async def test_one_caller_never_sees_what_another_has_left() -> None:
    @tool(effect="write", cacheable=True)
    def mine(ctx: ToolContext[Any]) -> dict[str, str]:
        return {"owner": ctx.principal.id}

    registry = ToolRegistry([mine], environment=CallEnvironment(redact=make_redactor(("never",))))

    async def ask(principal_id: str, key: str | None = None) -> ToolResult:
        ctx: ToolContext[Any] = ToolContext(
            principal=Principal(id=principal_id, tenant="acme"), idempotency_key=key
        )
        return await registry.call("mine", {}, ctx)

    answers = [
        (await ask(name, key)).unwrap()["owner"]
        for key in (None, "k")
        for name in ("ada", "bob", "ada", "bob")
    ]

    assert answers == ["ada", "bob", "ada", "bob"] * 2
    spoilt = await ask("ada")
    spoilt.structured["owner"] = "bob"
    assert (await ask("ada")).unwrap() == {"owner": "ada"}


def test_an_error_of_the_registry_is_the_callers() -> None:
    for kind in (DuplicateTool, ToolNotFound, SyncUse):
        assert issubclass(kind, CallerError)


async def test_a_bug_in_a_tool_is_logged_once_also_through_another_tool_and_with_a_key(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def inner() -> int:
        return {}["nothing"]

    async def outer(ctx: ToolContext[Any]) -> int:
        return (await ctx.call("inner")).unwrap()

    registry = ToolRegistry([inner, outer])
    keyed: ToolContext[Any] = ToolContext(idempotency_key="k")
    results = [await registry.call("outer", {}, keyed) for _ in range(2)]

    [entry] = [item for item in caplog.records if item.name == "pegboard.tools"]
    assert all(result.is_error for result in results)
    assert "tools: 'inner' failed" in entry.getMessage()
    assert "KeyError: 'nothing'" in entry.getMessage()
