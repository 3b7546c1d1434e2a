"""Tools by name and id, and which name was perhaps meant."""

import sys
import threading
from collections.abc import Callable, Mapping
from typing import Any

import pytest
from tests.registry.made import a_tool, add

from pegboard.core.context import ToolContext
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import DuplicateTool, InvalidRequest, ToolNotFound
from pegboard.registry.change_notifier import ChangeNotifier
from pegboard.registry.name_index import NameIndex
from pegboard.tools import as_tool


def filled(*tools: Tool) -> NameIndex:
    catalogue = NameIndex(ChangeNotifier())
    for tool in tools:
        catalogue.add(tool.spec.name, tool, on_conflict="error")
    return catalogue


def test_a_tool_is_found_by_name_and_by_id() -> None:
    find = a_tool("find", version="2.1.0")
    catalogue = filled(find)

    assert catalogue.find("find") is find
    assert catalogue.find("find_v2") is find
    assert catalogue.find("find_v1") is None


def test_a_tool_is_found_by_its_alias_while_no_other_has_that_name() -> None:
    built_in = a_tool("std__find", alias="find")
    catalogue = filled(built_in)
    alone = catalogue.find("find")
    own = a_tool("find")
    catalogue.add("find", own, on_conflict="error")
    beside = catalogue.find("find")
    catalogue.remove("find")

    assert (alone, beside, catalogue.find("find")) == (built_in, own, built_in)
    assert catalogue.find("std__find") is built_in


def test_an_id_goes_before_an_alias_and_the_first_of_two_aliases_is_meant() -> None:
    first, second = a_tool("a__find", alias="find_v1"), a_tool("b__find", alias="find_v1")
    catalogue = filled(first, second)
    before = catalogue.find("find_v1")
    own = a_tool("find")
    catalogue.add("find", own, on_conflict="error")

    assert before is first
    assert catalogue.find("find_v1") is own


def test_an_alias_follows_what_is_added_and_removed() -> None:
    catalogue = filled(a_tool("other"))
    assert catalogue.find("find") is None
    catalogue.add("std__find", a_tool("std__find", alias="find"), on_conflict="error")
    there = catalogue.find("find")
    catalogue.remove("std__find")

    assert there is not None
    assert catalogue.find("find") is None


def test_a_name_goes_before_an_id() -> None:
    first, second = a_tool("find"), a_tool("find_v1")

    assert filled(first, second).find("find_v1") is second


def test_ids_follow_what_is_added_and_removed() -> None:
    catalogue = filled(a_tool("find"))
    catalogue.find("find_v1")
    newer = a_tool("find", version="2.0.0")
    catalogue.add("find", newer, on_conflict="replace")
    after = (catalogue.find("find_v1"), catalogue.find("find_v2"))
    catalogue.remove("find")

    assert after == (None, newer)
    assert catalogue.find("find_v2") is None


class Counted:
    """A tool that counts how often somebody looks at it."""

    def __init__(self, tool: Tool) -> None:
        self._tool = tool
        self.looks = 0

    @property
    def spec(self) -> ToolSpec:
        self.looks += 1
        return self._tool.spec

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> Any:
        return await self._tool.run(arguments, ctx)


def test_who_asks_by_id_between_new_tools_does_not_pay_for_all_of_them() -> None:
    catalogue = filled(a_tool("first"))
    first = Counted(a_tool("t0"))
    catalogue.add("t0", first, on_conflict="error")
    for number in range(1, 100):
        assert catalogue.find(f"t{number}") is None
        catalogue.add(f"t{number}", a_tool(f"t{number}"), on_conflict="error")
        assert catalogue.find(f"t{number}_v1") is catalogue.find(f"t{number}")

    assert first.looks < 5


def test_a_tool_that_is_replaced_under_its_id_is_found_by_it() -> None:
    catalogue = filled(a_tool("find"), a_tool("other"))
    catalogue.find("find_v1")
    newer = a_tool("find", version="1.1.0")
    catalogue.add("find", newer, on_conflict="replace")

    assert catalogue.find("find_v1") is newer
    assert catalogue.find("other_v1") is catalogue.find("other")


@pytest.mark.parametrize(
    ("first", "second", "origins"),
    [
        (a_tool("t", source="shop"), a_tool("t", source="crm"), ("source 'crm'", "source 'shop'")),
        (as_tool(add), a_tool("add"), ("SchemaTool", "module 'tests.registry.made'")),
    ],
    ids=["sources", "a function"],
)
def test_a_name_that_is_taken_names_both_origins(
    first: Tool, second: Tool, origins: tuple[str, str]
) -> None:
    catalogue = filled(first)

    with pytest.raises(DuplicateTool) as caught:
        catalogue.add(first.spec.name, second, on_conflict="error")

    taken = f"Tool '{first.spec.name}' from {origins[0]} is already registered from {origins[1]}."
    assert str(caught.value).startswith(taken)
    assert catalogue.find(first.spec.name) is first


def test_the_same_tool_twice_is_no_conflict() -> None:
    tool = a_tool("find")

    assert len(filled(tool, tool)) == 1


def test_replacing_keeps_the_place() -> None:
    catalogue = filled(a_tool("a"), a_tool("b"))
    other = a_tool("a")
    catalogue.add("a", other, on_conflict="replace")

    assert catalogue.names() == ("a", "b")
    assert next(iter(catalogue)) is other


@pytest.mark.parametrize("name", ["", "a b", "ü", "x" * 65])
def test_what_no_provider_accepts_is_no_name(name: str) -> None:
    with pytest.raises(InvalidRequest, match="is not a tool name"):
        NameIndex(ChangeNotifier()).add(name, a_tool(), on_conflict="error")


def test_removing_what_is_not_there_names_the_nearest() -> None:
    with pytest.raises(ToolNotFound) as caught:
        filled(a_tool("find")).remove("fnd")

    assert caught.value.nearest == ("find",)


async def test_only_changed_tools_are_indexed_again() -> None:
    catalogue = filled(a_tool("a", "orders"), a_tool("b", "orders"))
    waiting = [catalogue.not_indexed]
    await catalogue.prepare_index()
    waiting.append(catalogue.not_indexed)
    catalogue.remove("a")
    waiting.append(catalogue.not_indexed)

    found = catalogue.search("orders", lambda _: True, 5)

    assert [tool.spec.name for tool in found] == ["b"]
    assert waiting == [2, 0, 1]


def test_a_glob_matches_names_until_they_change() -> None:
    catalogue = filled(a_tool("crm__find"), a_tool("shop__find"))
    before = catalogue.match("crm__*"), catalogue.match("crm__*")
    catalogue.add("crm__add", a_tool("crm__add"), on_conflict="error")
    catalogue.remove("crm__find")

    assert before == (("crm__find",), ("crm__find",))
    assert catalogue.match("crm__*") == ("crm__add",)


@pytest.mark.parametrize("count", [3, 60, 12_000], ids=["few", "many", "more than are noted"])
def test_a_glob_matches_in_the_order_of_registration(count: int) -> None:
    catalogue = filled(*(a_tool(f"crm__find_{number}") for number in range(5)))
    assert len(catalogue.match("crm__*")) == 5
    moved = catalogue.remove("crm__find_1")
    catalogue.add("crm__find_1", moved, on_conflict="error")
    one = a_tool("crm__more")
    for number in range(count):
        catalogue.add(f"crm__more_{number}", one, on_conflict="error")
        catalogue.add(f"shop__more_{number}", one, on_conflict="error")

    assert catalogue.match("crm__*") == tuple(
        name for name in catalogue.names() if name.startswith("crm__")
    )


def test_many_globs_are_not_all_kept() -> None:
    catalogue = filled(a_tool("crm__find"))
    for number in range(1_100):
        catalogue.match(f"c*{number}")

    assert len(catalogue._matches) == 100
    assert catalogue.match("c*") == ("crm__find",)


NAMES = ["shop__find_order", "shop__refund_order", "crm__find_customer", "db__list_tables", "f"]


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("shop__find_ordr", ("shop__find_order", "shop__refund_order")),
        ("list_tables", ("db__list_tables",)),
        ("find_customer", ("crm__find_customer",)),
        ("weather", ()),
        ("", ()),
        ("x" * 100_000, ()),
    ],
    ids=lambda value: str(value)[:20],
)
def test_the_nearest_names_are_those_that_were_perhaps_meant(
    name: str, nearest: tuple[str, ...]
) -> None:
    assert filled(*map(a_tool, NAMES)).nearest(name) == nearest


def test_a_tool_that_may_not_be_named_is_not_named() -> None:
    may_name: Callable[[Tool], bool] = lambda tool: "refund" not in tool.spec.name  # noqa: E731 - one word of a test

    nearest = filled(*map(a_tool, NAMES)).nearest("shop__refund_ordr", may_name)

    assert nearest == ("shop__find_order",)


def test_among_thousands_of_names_few_are_looked_at_closely() -> None:
    catalogue = filled(*[a_tool(f"source{n % 50}__do_something_{n}") for n in range(3000)])
    asked: list[str] = []

    def may_name(tool: Tool) -> bool:
        asked.append(tool.spec.name)
        return True

    nearest = catalogue.nearest("source7__do_somthing_2057", may_name)

    assert nearest[0] == "source7__do_something_2057"
    assert len(asked) == 200


def test_tools_may_come_and_go_while_others_look() -> None:
    catalogue = filled(*[a_tool(f"t{number}") for number in range(200)])
    problems: list[BaseException] = []
    stop = threading.Event()

    def look() -> None:
        try:
            while not stop.is_set():
                catalogue.find("t5_v1")
                catalogue.nearest("t500")
                assert all(tool.spec for tool in catalogue)
        except BaseException as error:
            problems.append(error)

    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    threads = [threading.Thread(target=look) for _ in range(3)]
    for thread in threads:
        thread.start()
    for number in range(300):
        extra: Any = a_tool(f"extra{number}")
        catalogue.add(f"extra{number}", extra, on_conflict="error")
        catalogue.remove(f"extra{number}")
    stop.set()
    for thread in threads:
        thread.join()
    sys.setswitchinterval(interval)

    assert problems == []
