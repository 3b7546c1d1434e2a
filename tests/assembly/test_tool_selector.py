"""Few tools are listed, the list stays as it is, and what is new is described by a message."""

import logging
from typing import Any

import pytest
from msgspec import convert, json, structs, to_builtins
from tests.assembly.made import NAMES, a_selector, deny, many_tools, names_of
from tests.registry.made import a_tool

from pegboard import ToolRegistry
from pegboard.assembly import ModelToolList
from pegboard.core.tool import Tool

META = ["find_tools", "call_tool"]


def test_few_tools_are_all_listed() -> None:
    registry = many_tools().only(*NAMES[:12])

    shown = a_selector(registry).select("create an invoice")

    assert names_of(shown.tools) == NAMES[:12]


def test_a_conversation_has_the_meta_tools_from_its_start() -> None:
    registry = many_tools().only(*NAMES[:3])

    shown = a_selector(registry, goes_on=True).select("hello")

    assert names_of(shown.tools) == [*NAMES[:3], *META]


def test_of_many_tools_those_are_listed_that_fit_the_question() -> None:
    shown = a_selector(many_tools()).select("Create an invoice. Then delete the parcel.")

    assert set(names_of(shown.tools)) >= {"invoice__create", "parcel__delete", *META}
    assert len(shown.tools) == 6 + len(META)


def test_what_is_always_listed_comes_beside_them() -> None:
    selector = a_selector(many_tools(), always_listed=("poem__create", "song__*", "none"), select=1)

    shown = selector.select("create an invoice")

    assert names_of(shown.tools) == [
        "poem__create", "song__create", "song__delete", "invoice__create", *META,
    ]  # fmt: skip


def test_with_numbers_of_0_only_the_meta_tools_are_listed() -> None:
    shown = a_selector(many_tools(), list_all=0, select=0).select("create an invoice")

    assert names_of(shown.tools) == META


def test_a_tool_that_is_hidden_or_out_of_reach_is_not_selected() -> None:
    registry = many_tools(policy=deny("invoice__create"))
    selector = a_selector(registry, reaches=lambda tool: tool.spec.name != "invoice__delete")

    shown = selector.select("invoice")

    assert not {"invoice__create", "invoice__delete"} & set(names_of(shown.tools))


@pytest.mark.parametrize("count", [2, 20])
def test_a_tool_with_a_reserved_name_is_not_shown_twice(count: int) -> None:
    registry = many_tools().only(*NAMES[:count])
    registry.add(a_tool("find_tools", "Create an invoice."))

    selector = a_selector(registry, goes_on=True, always_listed=("find_*", "find_tools"))
    shown = selector.select("create an invoice")

    assert names_of(shown.tools).count("find_tools") == 1
    assert names_of(shown.tools)[-2:] == META


def first_list(registry: ToolRegistry, **known: Any) -> ModelToolList:
    shown = a_selector(registry, goes_on=True, select=2, **known).select("create an invoice")
    return convert(to_builtins(shown), ModelToolList)  # as it comes back from the store


def test_the_list_of_a_conversation_stays_to_the_byte_and_a_note_describes_what_is_new() -> None:
    registry = many_tools()
    kept = first_list(registry)

    shown = a_selector(registry, kept=kept, goes_on=True, select=1).select("delete the parcel")

    assert json.encode(shown.tools) == json.encode(kept.tools)
    assert shown.appended == ("parcel__delete",)
    assert '"name":"parcel__delete","description":"Delete one parcel."' in shown.note
    assert '"parameters"' in shown.note


def test_what_was_described_is_not_described_again() -> None:
    registry = many_tools()
    kept = first_list(registry)
    second = a_selector(registry, kept=kept, goes_on=True, select=1).select("delete the parcel")

    third = a_selector(registry, kept=second, goes_on=True, select=1).select("delete the parcel")

    assert (third.note, third.appended) == ("", ("parcel__delete",))


def test_a_list_is_made_anew_when_something_in_it_was_withdrawn() -> None:
    registry = many_tools()
    kept = first_list(registry)
    registry.remove(kept.tools[0].name)

    shown = a_selector(registry, kept=kept, goes_on=True, select=2).select("book a hotel")

    assert shown.appended == ()
    assert {tool.split("__")[0] for tool in names_of(shown.tools)[:-2]} == {"hotel"}


def test_a_list_is_made_anew_for_another_agent() -> None:
    registry = many_tools()
    kept = first_list(registry, basis="shop")

    shown = a_selector(registry, kept=kept, basis="travel", goes_on=True, select=2).select("hotel")

    assert (shown.basis, shown.tools != kept.tools) == ("travel", True)


def test_a_new_tool_of_a_small_board_is_described_and_not_listed() -> None:
    registry = many_tools().only(*NAMES[:2])
    kept = first_list(registry)
    registry.add(a_tool("new", "Something new."))

    shown = a_selector(registry, kept=kept, goes_on=True).select("hello")

    assert (shown.tools, shown.appended) == (kept.tools, ("new",))


def test_what_was_withdrawn_since_the_selection_is_not_shown() -> None:
    registry = many_tools()
    selector = a_selector(registry, select=2)
    shown = selector.select("invoice")
    registry.remove("invoice__create")

    toolset = selector.assemble(shown)

    assert names_of(toolset.model_tools) == ["invoice__delete", *META]
    assert (names_of(toolset.listed), names_of(toolset.meta_tools)) == (["invoice__delete"], META)


class BrokenRegistry(ToolRegistry):
    """A registry whose search fails."""

    def search(self, *_: Any, **__: Any) -> list[Tool]:
        raise ValueError("no index")


@pytest.mark.parametrize(
    ("window", "expected"), [(None, [*NAMES]), (100_000, [*NAMES]), (500, META)], ids=str
)
def test_a_failure_to_select_is_not_fatal(
    caplog: pytest.LogCaptureFixture,
    window: int | None,
    expected: list[str],
) -> None:
    registry = BrokenRegistry(many_tools())

    with caplog.at_level(logging.WARNING, "pegboard.assembly"):
        shown = a_selector(registry, window=window).select("invoice")

    assert names_of(shown.tools) == expected
    assert "are not selected" in caplog.text


def test_more_tools_than_providers_take_are_not_listed_after_a_failure() -> None:
    registry = BrokenRegistry([a_tool(f"t{number}") for number in range(129)])

    shown = a_selector(registry, always_listed=("t7",)).select("invoice")

    assert names_of(shown.tools) == ["t7", *META]


INVOICE = "Create an invoice, delete the invoice or create a parcel."


def test_an_order_chooses_among_what_was_found_and_adds_nothing() -> None:
    registry = many_tools(policy=deny("parcel__create"))
    selector = a_selector(registry, select=1)
    found = [tool.spec.name for tool in selector.find_candidates("invoice, parcel")]

    shown = selector.select("invoice, parcel", ["song__create", "parcel__create", found[1]])

    assert set(found) == {"invoice__create", "invoice__delete", "parcel__delete"}
    assert names_of(shown.tools) == [found[1], *META]


def test_tools_without_a_place_in_the_order_stay_as_they_were() -> None:
    selector = a_selector(many_tools(), select=3)
    found = [tool.spec.name for tool in selector.find_candidates(INVOICE)]

    shown = selector.select(INVOICE, [found[2]])

    assert names_of(shown.tools)[:3] == [found[2], found[0], found[1]]


@pytest.mark.parametrize(
    ("count", "limits"), [(12, {}), (20, {"select": 0}), (20, {"select": 20})], ids=str
)
def test_there_are_no_candidates_where_an_order_changes_nothing(count: int, limits: Any) -> None:
    registry = many_tools().only(*NAMES[:count])

    assert a_selector(registry, **limits).find_candidates(INVOICE) == []


def test_there_are_no_candidates_when_the_model_knows_them_all() -> None:
    registry = many_tools()
    kept = structs.replace(first_list(registry), appended=tuple(NAMES))

    again = a_selector(registry, kept=kept, goes_on=True, select=2)
    other = a_selector(registry, kept=kept, goes_on=True, select=2, basis="other")

    assert again.find_candidates(INVOICE) == []
    assert other.find_candidates(INVOICE)
