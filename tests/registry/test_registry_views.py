"""Views: other tools, names or rules, and nothing mutated."""

from typing import Any

import pytest
from tests.execution.made import Heard
from tests.registry.made import a_tool, add

from pegboard import Policy, ToolContext, ToolRegistry, tool
from pegboard.core.tool import Limits
from pegboard.errors import AccessDenied, DuplicateTool, InvalidRequest, ToolNotFound
from pegboard.execution.environment import CallDefaults, CallEnvironment


@pytest.fixture
def registry() -> ToolRegistry:
    return ToolRegistry(
        [add, a_tool("shop__find", category="web"), a_tool("shop__refund", category="connector")]
    )


def test_only_some(registry: ToolRegistry) -> None:
    assert registry.only("shop__find", "add").names() == ("shop__find", "add")
    assert registry.only("add_v1").names() == ("add",)
    assert registry.only().names() == ()


def test_all_but_some(registry: ToolRegistry) -> None:
    assert registry.exclude("add").names() == ("shop__find", "shop__refund")
    assert registry.exclude("add_v1", "shop__find").names() == ("shop__refund",)
    assert registry.exclude().names() == registry.names()


def test_a_glob_means_all_that_it_matches(registry: ToolRegistry) -> None:
    assert registry.only("add", "shop__*").names() == ("add", "shop__find", "shop__refund")
    assert registry.only("shop__*", "shop__find").names() == ("shop__find", "shop__refund")
    assert registry.exclude("shop__*").names() == ("add",)
    with pytest.raises(ToolNotFound, match=r"Tool 'crm__\*' not found"):
        registry.only("crm__*")


@pytest.mark.parametrize("view", ["only", "exclude"])
def test_a_name_that_no_tool_has_is_an_error(registry: ToolRegistry, view: str) -> None:
    with pytest.raises(ToolNotFound, match="Did you mean 'shop__find'"):
        getattr(registry, view)("shop__fnd")


def test_some_categories(registry: ToolRegistry) -> None:
    assert registry.filter_by_category("web", "connector").names() == (
        "shop__find",
        "shop__refund",
    )
    assert registry.filter_by_category("media").names() == ()


def test_other_names(registry: ToolRegistry) -> None:
    view = registry.renamed({"add": "plus", "shop__find_v1": "look"})

    assert view.names() == ("plus", "look", "shop__refund")
    assert registry.prefixed("my_").names() == ("my_add", "my_shop__find", "my_shop__refund")


@pytest.mark.parametrize(
    ("names", "error"),
    [
        ({"add": "shop__find"}, DuplicateTool),
        ({"add": "not a name"}, InvalidRequest),
        ({"nobody": "x"}, ToolNotFound),
    ],
    ids=["taken", "no name", "no tool"],
)
def test_names_that_cannot_be(
    registry: ToolRegistry, names: dict[str, str], error: type[Exception]
) -> None:
    with pytest.raises(error):
        registry.renamed(names)


def test_two_tools_may_swap_names(registry: ToolRegistry) -> None:
    view = registry.renamed({"shop__find": "shop__refund", "shop__refund": "shop__find"})

    assert view.names() == ("add", "shop__refund", "shop__find")
    assert view.call_sync("shop__refund").text == "shop__find"


async def test_a_renamed_tool_keeps_its_types_and_speaks_by_its_new_name(
    registry: ToolRegistry,
) -> None:
    view = registry.renamed({"add": "plus"})

    good = await view.call("plus", '{"a": "2"}')
    bad = await view.call("plus", {"a": "x"})
    old = await view.call("add", {"a": 2})

    assert good.unwrap() == 3
    assert bad.text.startswith("Invalid arguments for 'plus':")
    assert isinstance(old.error, ToolNotFound)
    assert (await registry.call("add", {"a": 2})).unwrap() == 3


async def test_a_view_changes_nothing_of_what_it_looks_at(registry: ToolRegistry) -> None:
    view = registry.prefixed("my_")
    view.add(a_tool("extra"))
    view.remove("my_add")

    assert registry.names() == ("add", "shop__find", "shop__refund")
    assert (await registry.call("add", {"a": 1})).unwrap() == 2


async def test_other_rules_hold_in_the_view_alone(registry: ToolRegistry) -> None:
    view = registry.with_policy(Policy(deny=("shop__*",)))

    assert isinstance((await view.call("shop__find")).error, AccessDenied)
    assert [item.spec.name for item in view.visible()] == ["add"]
    assert (await registry.call("shop__find")).text == "shop__find"


async def test_calls_of_a_view_are_recorded_like_all_others() -> None:
    heard = Heard()
    registry = ToolRegistry([add], listeners=[heard])
    for view in (registry.prefixed("my_"), registry.with_policy(Policy())):
        await view.call(view.names()[0], {"a": 1})

    assert [(record.tool, record.status) for record in heard.records] == [
        ("my_add", "completed"),
        ("add", "completed"),
    ]


@pytest.mark.parametrize("name", ["shop__find", "look"])
async def test_a_tool_that_is_switched_off_is_off_in_every_view(
    registry: ToolRegistry, name: str
) -> None:
    view = registry.renamed({"shop__find": "look"})
    registry.switches.turn_off(tool=name)

    assert isinstance((await view.call("look")).error, AccessDenied)


@pytest.mark.parametrize("rule", ["shop__refund", "give_back"])
async def test_another_name_is_no_way_around_the_rules(rule: str) -> None:
    registry = ToolRegistry([a_tool("shop__refund")], policy=Policy(deny=(rule,)))
    view = registry.renamed({"shop__refund": "give_back"})

    assert isinstance((await view.call("give_back")).error, AccessDenied)
    assert view.visible() == []
    assert view.explain("give_back").call.rule == "policy.deny[0]"


async def test_another_name_is_no_way_around_a_limit() -> None:
    kit = CallEnvironment(settings=CallDefaults(max_wait=0))
    registry = ToolRegistry([a_tool("find", limits=Limits(rate=1, per=60))], environment=kit)
    view = registry.renamed({"find": "look"})

    first, second = await registry.call("find"), await view.call("look")

    assert not first.is_error
    assert second.error is not None
    assert second.error.code == "rate_limited"


async def test_a_cached_answer_is_never_that_of_another_tool_of_the_same_name() -> None:
    registry = ToolRegistry(
        [a_tool("a", answer="of a", cacheable=True), a_tool("b", answer="of b", cacheable=True)]
    )
    view = registry.only("a").renamed({"a": "b"})

    assert (await registry.call("b")).text == "of b"
    assert (await view.call("b")).text == "of a"
    assert (await registry.call("b")).text == "of b"


async def test_a_tool_calls_only_what_its_view_has() -> None:
    @tool
    async def outer(ctx: ToolContext[Any]) -> str:
        return (await ctx.call("add", {"a": 1})).text

    registry = ToolRegistry([outer, add])

    assert (await registry.call("outer")).text == "2"
    assert (await registry.only("outer").call("outer")).text == "Tool 'add' not found."
