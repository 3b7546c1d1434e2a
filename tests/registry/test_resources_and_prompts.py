from typing import Any

import pytest

from pegboard.access import Policy
from pegboard.core.context import ToolContext
from pegboard.core.event import CallRecord, Event
from pegboard.core.principal import Principal
from pegboard.core.resources_and_prompts import Completion
from pegboard.core.result import TextPart
from pegboard.errors import DuplicateTool, ToolArgumentError, ToolFailed, ToolNotFound
from pegboard.registry import ToolRegistry
from pegboard.tools import prompt, resource
from pegboard.tools.resources_and_prompts import FunctionPrompt, FunctionResource, offer_of


def an_offer(function: Any) -> Any:
    made = offer_of(function)
    assert made is not None
    return made


@resource("docs://{page}")
def page(page: str) -> str:
    if page == "bad":
        raise ToolFailed("There is no such page.")
    return f"page {page}"


@resource("docs://index")
def index() -> str:
    return "index"


@resource("vault://gold", scopes=("vault",))
def vault() -> str:
    return "gold"


@prompt()
def greet(name: str) -> str:
    return f"Greet {name}"


class Heard:
    def __init__(self) -> None:
        self.records: list[CallRecord] = []

    def on_event(self, event: Event) -> None:
        if isinstance(event, CallRecord):
            self.records.append(event)


def a_registry(**options: Any) -> ToolRegistry:
    registry = ToolRegistry(**options)
    for function in (page, index, vault):
        registry.offers.add_resource(an_offer(function))
    registry.offers.add_prompt(an_offer(greet))
    return registry


async def test_a_resource_is_read_by_its_own_uri_before_a_template() -> None:
    offers = a_registry().offers

    assert [part.text for part in await offers.read("docs://index")] == ["index"]
    assert [part.text for part in await offers.read("docs://7")] == ["page 7"]


async def test_reading_and_filling_are_recorded_like_calls() -> None:
    heard = Heard()
    offers = a_registry(listeners=[heard]).offers

    await offers.read("docs://7")
    await offers.fill("greet", {"name": "Ada"})

    assert [(item.handler, item.effect, item.status) for item in heard.records] == [
        ("resource", "read", "completed"),
        ("prompt", "read", "completed"),
    ]
    assert [item.tool for item in heard.records][1] == "greet"


async def test_what_a_resource_says_no_to_is_raised() -> None:
    with pytest.raises(ToolFailed, match="no such page"):
        await a_registry().offers.read("docs://bad")


@pytest.mark.parametrize("uri", ["docs://a/b", "nothing://x", "vault://gold"])
async def test_what_is_not_there_or_hidden_is_not_found(uri: str) -> None:
    nobody = ToolContext(principal=Principal(id="ada", scopes=frozenset()))

    with pytest.raises(ToolNotFound):
        await a_registry().offers.read(uri, nobody)


def test_what_a_caller_may_not_see_is_not_listed() -> None:
    offers = a_registry(policy=Policy(deny=("*greet*",))).offers
    nobody = Principal(id="ada", scopes=frozenset())

    assert [item.uri for item in offers.resources(nobody)] == ["docs://{page}", "docs://index"]
    assert offers.prompts(nobody) == []


async def test_arguments_of_a_prompt_are_checked() -> None:
    offers = a_registry().offers

    with pytest.raises(ToolArgumentError, match="name"):
        await offers.fill("greet", {"nam": "Ada"})
    with pytest.raises(ToolNotFound):
        await offers.fill("meet")


async def test_a_filled_prompt_comes_back_whole() -> None:
    filled = await a_registry().offers.fill("greet", {"name": "Ada"})

    assert [(item.role, item.content) for item in filled.messages] == [
        ("user", TextPart(text="Greet Ada"))
    ]


def test_a_taken_uri_or_name_is_refused() -> None:
    registry = a_registry()

    @resource("docs://index")
    def other() -> str:
        return ""

    @prompt(name="greet")
    def other_prompt() -> str:
        return ""

    with pytest.raises(DuplicateTool):
        registry.offers.add_resource(an_offer(other))
    with pytest.raises(DuplicateTool):
        registry.offers.add_prompt(an_offer(other_prompt))


async def test_a_source_offers_what_it_lists_now_and_nothing_else() -> None:
    registry = a_registry()
    heard: list[str] = []
    registry.changes.listen(lambda kind, _: heard.append(kind))
    handbook: FunctionResource = an_offer(page).in_source("wiki")
    hello: FunctionPrompt = an_offer(greet).in_source("wiki")

    registry.offers.replace("wiki", resources=[handbook], prompts=[hello])
    registry.offers.replace("wiki", resources=[handbook], prompts=[hello])
    parts = await registry.offers.read("board://wiki/docs://7")
    filled = await registry.offers.fill("wiki__greet", {"name": "Ada"})
    registry.offers.replace("wiki", resources=[], prompts=[])

    assert [(part.uri, part.text) for part in parts] == [("board://wiki/docs://7", "page 7")]
    assert len(filled.messages) == 1
    assert heard == ["resources", "prompts", "resources", "prompts"]
    with pytest.raises(ToolNotFound):
        await registry.offers.read("board://wiki/docs://7")


async def test_rules_hold_for_what_is_read_from_the_next_read_on() -> None:
    registry = a_registry()
    registry.offers.replace("wiki", resources=[an_offer(page).in_source("wiki")], prompts=[])
    await registry.offers.read("board://wiki/docs://7")

    registry.switches.turn_off(source="wiki", reason="maintenance")

    with pytest.raises(ToolNotFound):
        await registry.offers.read("board://wiki/docs://7")


def test_an_update_is_told_with_its_uri() -> None:
    registry = a_registry()
    heard: list[tuple[str, str]] = []
    registry.changes.listen(lambda kind, uri: heard.append((kind, uri)))

    registry.offers.notify_update("docs://index")

    assert heard == [("resource", "docs://index")]


class Completing(FunctionPrompt):
    async def complete(self, argument: str, value: str, given: Any, ctx: Any) -> Completion:
        return Completion(values=(f"{argument}={value}", *given))


async def test_arguments_are_completed_by_whoever_can() -> None:
    registry = a_registry()
    registry.offers.add_prompt(Completing(greet, an_offer(greet).in_source("x").spec))

    known = await registry.offers.complete("x__greet", "a", "b", given={"c": "d"})

    assert known == Completion(values=("a=b", "c"))
    assert await registry.offers.complete("greet", "name", "A") == Completion()
    assert await registry.offers.complete("docs://{page}", "page", "A") == Completion()
