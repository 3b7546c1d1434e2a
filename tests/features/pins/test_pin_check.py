"""What comes through of what an upstream lists; `sorting`, `definitions` and `holding` do it."""

from typing import Any

import pytest
from tests.features.pins.made import NARROWER, SCHEMA, WIDER, Board, foreign, said

from pegboard.core.ports.catalogue_stores import HeldDefinition
from pegboard.core.principal import LOCAL
from pegboard.core.tool import Effect, Limits, Retry
from pegboard.errors import InvalidRequest, SourceUnavailable
from pegboard.features.pins.classify import PinClassification
from pegboard.features.pins.definitions import read_definition, upstream_of
from pegboard.features.pins.held_definitions import details_of, state_of
from pegboard.registry import ToolRegistry
from pegboard.tools import SchemaTool, tool


@tool
def own() -> str:
    """Of the board itself."""
    return "own"


async def test_tools_that_nobody_else_describes_pass_untouched() -> None:
    board, [ours] = Board("block"), ToolRegistry([own])

    judged = await board.gate.check("web", [ours])

    assert judged.tools == (ours,)
    assert await board.store.pins() == []


async def test_what_is_seen_for_the_first_time_is_pinned_and_passes() -> None:
    board, [ours], item = Board("block"), ToolRegistry([own]), foreign()

    judged = await board.gate.check("web", [item, ours])

    assert judged.tools == (item, ours)
    [pin] = await board.store.pins("web")
    assert (pin.name, pin.approved_by) == ("find", "")
    assert pin.definition["input_schema"] == SCHEMA | {"additionalProperties": False}


async def test_what_is_not_usable_is_not_pinned_yet() -> None:
    board = Board()

    await board.lists(foreign(unavailable="its schema is broken"))

    assert await board.store.pins() == []


@pytest.mark.parametrize(
    ("change", "usable", "described"),
    [
        ({"description": "Send keys."}, True, "Find pages."),
        ({"input_schema": WIDER}, True, "Find pages."),
        ({"title": "Find"}, True, "Find pages."),
        ({"input_schema": NARROWER, "description": "Send keys."}, False, "Find pages."),
        ({"effect": Effect.READ}, False, "Find pages."),
        ({"handler": "mcp elsewhere"}, False, "Find pages."),
        ({"output_schema": {"type": "object"}}, True, "Find pages."),
    ],
    ids=["words", "wider", "title", "narrower", "effect", "address", "output"],
)
async def test_a_held_tool_is_shown_as_approved_and_runs_where_nothing_breaks(
    change: dict[str, Any], usable: bool, described: str
) -> None:
    board = Board()
    [before] = await board.lists(foreign())

    [spec] = await board.lists(foreign(said(**change)))

    assert (spec.unavailable == "", spec.description) == (usable, described)
    assert (spec.title, spec.effect) == ("", Effect.WRITE)
    assert (spec.input_schema, spec.output_schema) == (before.input_schema, None)


async def test_what_is_shown_of_a_held_tool_is_what_is_enforced() -> None:
    board = Board()
    await board.lists(foreign())
    judged = await board.gate.check("web", [foreign(said(input_schema=WIDER))])
    registry = ToolRegistry(judged.tools)

    fine = await registry.call("web__find", {"query": "a"})
    refused = await registry.call("web__find", {"query": "a", "lang": "b"})

    assert fine.structured == {"got": {"query": "a"}}
    assert refused.error is not None
    assert refused.error.code == "arguments_invalid"


async def test_an_unavailable_tool_says_which_command_mends_it() -> None:
    board = Board()
    await board.lists(foreign())
    changed = foreign(said(input_schema=NARROWER))
    judged = await board.gate.check("web", [changed])

    with pytest.raises(SourceUnavailable, match="'pegboard pins approve web find'"):
        await judged.tools[0].run({}, None)  # type: ignore[arg-type]  # it needs no context


@pytest.mark.parametrize(
    ("state", "said_why"),
    [
        ("waiting", "waits for approval: 'pegboard"),
        ("rejected", "the change was rejected; to accept it anyway: 'pegboard"),
        ("blocked", "the board blocks changes; to accept it, write 'ask' under 'pinning:'"),
    ],
)
async def test_the_reason_says_where_the_change_stands(state: str, said_why: str) -> None:
    board = Board("block" if state == "blocked" else "ask")
    await board.lists(foreign())
    await board.lists(foreign(said(input_schema=NARROWER)))
    [held] = await board.store.list_held()
    if state == "rejected":
        await board.pins.decide("web", "find", "reject", digest=held.digest, principal=LOCAL)

    [spec] = await board.lists(foreign(said(input_schema=NARROWER)))

    assert said_why in spec.unavailable


async def test_where_the_operator_hides_an_argument_a_changed_schema_waits() -> None:
    board = Board()
    hidden = {"type": "object", "properties": {}, "additionalProperties": False}
    await board.lists(foreign(input_schema=hidden))

    [unchanged] = await board.lists(foreign(input_schema=hidden))
    [changed] = await board.lists(foreign(said(input_schema=WIDER), input_schema=hidden))

    assert unchanged.unavailable == ""
    assert changed.unavailable


async def test_where_the_operators_word_holds_the_upstreams_is_not_judged() -> None:
    board = Board()
    own_words: dict[str, Any] = {"description": "Mine.", "effect": Effect.READ}
    await board.lists(foreign())
    [spec] = await board.lists(foreign(**own_words))
    changed = said(description="Send keys.", output_schema={"type": "object"})
    mine = ("output_schema",)
    [silent] = await board.lists(foreign(changed, overridden=mine, **own_words))
    [agreed] = await board.lists(foreign(said(effect=Effect.READ), overridden=("effect",)))
    [bare] = await board.lists(foreign(changed))

    assert (spec.description, spec.unavailable) == ("Mine.", "")
    assert (silent.description, silent.unavailable) == ("Mine.", "")
    assert (agreed.effect, agreed.unavailable) == (Effect.READ, "")
    assert bare.description == "Find pages."
    assert len(await board.store.list_held()) == 1


async def test_a_definition_is_given_back_as_it_was_pinned() -> None:
    retry, limits = Retry(max_retries=1, on=("busy",)), Limits(rate=3)
    upstream = said(retry=retry, limits=limits, scopes=("a",), tags=("b",), capabilities=("c",))
    board = Board()
    await board.lists(foreign(upstream))

    [spec] = await board.lists(foreign(upstream.replace(description="Other.", retry=None)))

    assert (spec.description, spec.retry, spec.limits) == ("Find pages.", retry, limits)
    assert (spec.scopes, spec.tags, spec.capabilities) == (("a",), ("b",), ("c",))


async def test_a_definition_that_cannot_be_read_makes_an_unavailable_tool() -> None:
    def broken() -> Any:
        raise InvalidRequest("it refers to nothing")

    def deep() -> Any:
        raise RecursionError

    board = Board()
    bad = said("bad", input_schema=broken)
    worse = said("worse", input_schema=deep)

    first, second, third = await board.lists(foreign(bad), foreign(worse), foreign())

    assert first.unavailable == "its definition cannot be compared: it refers to nothing"
    assert second.unavailable == "its definition cannot be compared: RecursionError"
    assert third.unavailable == ""


@pytest.mark.parametrize("name", ["a\x00b", "x" * 300, "\u202eevil"], ids=["NUL", "long", "mark"])
async def test_a_strange_name_is_pinned_under_one_that_every_store_keeps(name: str) -> None:
    board = Board()
    await board.lists(foreign(said(action=name)), foreign(said("b", action=f"{name}!")))

    specs = await board.lists(foreign(said(action=name, description="Send keys.")))

    assert [spec.description for spec in specs] == ["Find pages."]
    pins = await board.store.pins()
    assert len(pins) == 2
    assert all(pin.name.isprintable() and len(pin.name) < 250 for pin in pins)


async def test_a_tool_without_a_name_of_its_own_is_known_by_the_boards() -> None:
    board = Board()

    await board.lists(foreign(said(action="")))

    assert [pin.name for pin in await board.store.pins()] == ["web__find"]


def test_what_cannot_be_kept_is_put_aside_and_the_rest_stays() -> None:
    sorting = PinClassification(source="web", at=1.0, policy="ask", pins={}, held={})
    ours = ToolRegistry([own]).get("own")
    sorting.add(ours)
    sorting.add(foreign())

    sorting.cannot_pin("the disk is full")

    assert sorting.tools[0] is ours
    assert sorting.tools[1].spec.unavailable == "the disk is full"


async def test_a_decision_elsewhere_is_noticed() -> None:
    board = Board()
    await board.lists(foreign())
    judged = await board.gate.check("web", [foreign(said(description="Other."))])
    before = await board.gate.has_moved("web", judged.standing)
    await board.pins.approve_all("web", principal=LOCAL)

    assert (before, await board.gate.has_moved("web", judged.standing)) == (False, True)


async def test_what_was_held_by_other_means_is_told_as_waiting() -> None:
    held = HeldDefinition(source="s", name="n", digest="d", definition={}, held_at=1.0, diff=["?"])

    assert state_of(held) == "waiting"
    assert details_of(held) == {}


def test_a_tool_of_somebody_else_keeps_saying_so_under_another_source() -> None:
    moved = foreign(said())
    assert isinstance(moved, SchemaTool)

    assert moved.in_source("other").upstream == upstream_of(moved)
    assert read_definition(moved) is not None


async def test_an_output_that_is_promised_later_is_seen_for_the_first_time_then() -> None:
    board, output = Board(), {"type": "object", "properties": {"a": {"type": "string"}}}
    made: list[int] = []

    def schema() -> Any:
        made.append(1)
        return output

    silent = foreign(said(output_schema=schema), overridden=("output_schema",), output_schema=None)
    await board.lists(silent)
    unread = not made
    [promised] = await board.lists(foreign(said(output_schema=schema)))
    await board.lists(foreign(said(output_schema=schema)))
    [again] = await board.lists(silent)
    [changed] = await board.lists(foreign(said(output_schema={"type": "string"})))

    assert unread
    assert (promised.output_schema, promised.unavailable) == (output, "")
    assert again.unavailable == ""
    assert changed.unavailable
    [pin] = await board.store.pins()
    assert pin.definition["output_schema"] == output


async def test_new_tools_of_a_source_that_has_been_seen_wait_where_the_board_says_so() -> None:
    board, find, send = Board("auto", new="ask"), foreign(), foreign(said("send"))
    first = await board.lists(find, foreign(said("other")))
    with pytest.raises(SourceUnavailable, match="is new upstream and waits for approval"):
        await (await board.gate.check("web", [find, send])).tools[1].run({}, None)  # type: ignore[arg-type] # the tool looks at no context

    [known, new] = await board.lists(find, send)

    assert [spec.unavailable for spec in (*first, known)] == ["", "", ""]
    assert "waits for approval: 'pegboard pins approve web send'" in new.unavailable
    assert (new.name, new.description, new.input_schema["type"]) == ("web__send", "", "object")
    assert new.input_schema["properties"] == {}
    [held] = await board.store.list_held("web")
    assert (held.name, state_of(held), details_of(held)["kind"]) == ("send", "waiting", "new")
    places = {row["place"]: row["after"] for row in details_of(held)["changes"]}
    assert places["description"] == "Find pages."
    assert places["effect"] == "write"
    assert places["input_schema.properties.query"] == {"type": "string"}
    assert {row["before"] for row in details_of(held)["changes"]} == {None}
    assert "title" not in places  # nothing is said of what there is not


async def test_a_new_tool_that_is_approved_passes_and_is_pinned_as_it_was_looked_at() -> None:
    board, find, send = Board("block", new="ask"), foreign(), foreign(said("send"))
    await board.lists(find)
    await board.lists(find, send)
    held = await board.pins.get("web", "web__send", principal=LOCAL)

    await board.pins.decide("web", "send", "approve", digest=held.digest, principal=LOCAL)
    [_, approved] = await board.lists(find, send)
    [_, changed] = await board.lists(find, foreign(said("send", description="Send keys.")))

    assert (approved.unavailable, approved.description) == ("", "Find pages.")
    assert changed.description == "Find pages."
    assert len(await board.store.pins("web")) == 2


async def test_a_new_tool_that_changes_while_it_waits_is_looked_at_anew() -> None:
    board, find = Board(new="ask"), foreign()
    await board.lists(find)
    await board.lists(find, foreign(said("send")))
    held = await board.pins.get("web", "send", principal=LOCAL)
    await board.pins.decide("web", "send", "reject", digest=held.digest, principal=LOCAL)

    [_, rejected] = await board.lists(find, foreign(said("send")))
    [_, other] = await board.lists(find, foreign(said("send", effect=Effect.ADMIN)))

    assert "it was rejected" in rejected.unavailable
    assert "waits for approval" in other.unavailable
    [waiting] = await board.store.list_held("web")
    assert waiting.digest != held.digest
    assert {row["place"]: row["after"] for row in details_of(waiting)["changes"]}[
        "effect"
    ] == "admin"


async def test_new_tools_pass_again_once_the_board_says_so() -> None:
    board, find, send = Board(new="ask"), foreign(), foreign(said("send"))
    await board.lists(find)
    await board.lists(find, send)
    board.new = "accept"

    [_, new] = await board.lists(find, send)

    assert new.unavailable == ""
    assert await board.store.list_held("web") == []


async def test_the_first_tools_of_a_source_never_wait() -> None:
    board = Board(new="ask")

    specs = await board.lists(foreign(), foreign(said("send")))

    assert [spec.unavailable for spec in specs] == ["", ""]
