"""Tools are found by their meaning where words do not find them, and by words where that fails."""

import asyncio
from collections.abc import Sequence
from hashlib import blake2b
from typing import Any

import pytest
from tests.registry.made import a_tool
from tests.registry.meanings import DOWN, TopicEmbedder, follow, tools

from pegboard import Policy, ToolRegistry
from pegboard.concurrency.closable_lock import ClosableLock
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import ConfigError, InvalidRequest, Unavailable
from pegboard.registry.tool_meanings import describe_tool
from pegboard.storage.memory.tool_vectors import MemoryToolVectors

QUESTION = "Do I need an umbrella?"


async def find(registry: ToolRegistry, question: str = QUESTION, **options: Any) -> list[str]:
    prepared = await registry.prepare_search(question)
    return [tool.spec.name for tool in registry.search(question, prepared=prepared, **options)]


async def test_a_tool_is_found_by_its_meaning_alone() -> None:
    registry = tools()
    by_words = await find(registry)
    await follow(registry, TopicEmbedder()).refresh()

    assert "sky__forecast" not in by_words
    assert (await find(registry))[0] == "sky__forecast"


async def test_each_thing_that_a_question_asks_for_has_a_meaning_of_its_own() -> None:
    registry, embedder = tools(), TopicEmbedder()
    await follow(registry, embedder).refresh()
    found = await find(registry, "Do I need an umbrella? And please settle my payment.")

    assert set(found[:2]) == {"sky__forecast", "shop__refund"}
    assert embedder.asked[-1] == ["Do I need an umbrella?", "And please settle my payment."]


async def test_words_that_no_tool_has_leave_the_order_to_meaning() -> None:
    registry = ToolRegistry(
        [
            a_tool("first__one", "Rain and mail."),
            a_tool("second__one", "Rain."),
            a_tool("third__one", "Mail and weather."),
        ]
    )
    await follow(registry, TopicEmbedder()).refresh()

    assert (await find(registry, "Umbrella?"))[0] == "second__one"
    assert (await find(registry, "My umbrella. Your umbrella."))[0] == "second__one"


async def test_a_hidden_tool_is_not_found_by_its_meaning() -> None:
    registry = ToolRegistry([*tools()], policy=Policy(deny=("sky__*",)))
    await follow(registry, TopicEmbedder()).refresh()

    assert "sky__forecast" not in await find(registry)


async def test_only_new_texts_are_embedded_again() -> None:
    registry, embedder = tools(), TopicEmbedder()
    meanings = follow(registry, embedder)
    made = [await meanings.refresh(), await meanings.refresh()]
    registry.add(a_tool("sky__forecast", "Say whether the weather is fine."), replace=True)
    registry.add(a_tool("office__send", "Send a letter."), replace=True)
    made.append(await meanings.refresh())

    assert made == [13, 0, 1]
    assert embedder.asked[1:] == [["sky forecast\nSay whether the weather is fine."]]


async def test_another_model_embeds_all_tools_before_it_answers() -> None:
    registry, models = tools(), [TopicEmbedder("a"), TopicEmbedder("b")]
    meanings = follow(registry, None)
    meanings._find_embedder = lambda: models[0]
    await meanings.refresh()
    models.pop(0)
    between = await registry.prepare_search(QUESTION)

    assert between.skipped == ("meaning",)
    assert await meanings.refresh() == 13
    assert (await registry.prepare_search(QUESTION)).skipped == ()


async def test_without_a_model_nothing_is_skipped() -> None:
    registry = tools()
    await follow(registry, None).refresh()

    assert (await registry.prepare_search(QUESTION)).skipped == ()


@pytest.mark.parametrize(
    "error",
    [DOWN, ConfigError("No key."), InvalidRequest("Refused."), ValueError("?"), KeyError("x")],
    ids=lambda error: type(error).__name__,
)
async def test_a_search_whose_question_is_not_embedded_is_by_words(error: Exception) -> None:
    registry, embedder = tools(), TopicEmbedder()
    await follow(registry, embedder).refresh()
    embedder.error = error
    prepared = await registry.prepare_search("rain")
    found = registry.search("rain", prepared=prepared)

    assert prepared.skipped == ("meaning",)
    assert [tool.spec.name for tool in found] == ["sky__forecast"]


async def test_a_model_that_is_down_is_left_alone_for_a_while() -> None:
    registry, embedder, now = tools(), TopicEmbedder(), [0.0]
    await follow(registry, embedder, monotonic=lambda: now[0]).refresh()
    embedder.error = DOWN
    await registry.prepare_search(QUESTION)
    embedder.error, asked = None, len(embedder.asked)
    soon = await registry.prepare_search(QUESTION)
    now[0] = 31.0
    later = await registry.prepare_search(QUESTION)

    assert (soon.skipped, later.skipped) == (("meaning",), ())
    assert len(embedder.asked) == asked + 1


async def test_a_question_that_is_refused_does_not_keep_others_from_the_model() -> None:
    registry, embedder = tools(), TopicEmbedder()
    await follow(registry, embedder).refresh()
    embedder.poison = "umbrella"
    refused = await registry.prepare_search(QUESTION)
    other = await registry.prepare_search("Is it rain?")

    assert (refused.skipped, other.skipped) == (("meaning",), ())


async def test_a_model_that_hangs_is_not_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pegboard.registry.tool_meanings._DEADLINE", 0.01)
    registry, embedder = tools(), TopicEmbedder()
    await follow(registry, embedder).refresh()
    embedder.hangs = True

    assert (await registry.prepare_search(QUESTION)).skipped == ("meaning",)


async def test_a_text_that_is_refused_does_not_keep_other_tools_from_the_model() -> None:
    registry, embedder = tools(), TopicEmbedder()
    registry.add(a_tool("bad__one", "A poison."))
    embedder.poison = "poison"
    meanings = follow(registry, embedder)
    await meanings.refresh()
    asked = len(embedder.asked)
    await meanings.refresh()

    assert len(embedder.asked) == asked
    assert (await find(registry))[0] == "sky__forecast"
    assert await find(registry, "poison") == ["bad__one"]


@pytest.mark.parametrize("error", [DOWN, InvalidRequest("Refused.")], ids=["down", "refuses"])
async def test_a_model_that_embeds_no_tool_is_tried_again_later(error: Exception) -> None:
    registry, embedder = tools(), TopicEmbedder()
    meanings = follow(registry, embedder)
    embedder.error = error
    with pytest.raises((Unavailable, InvalidRequest)):
        await meanings.refresh()
    before = await registry.prepare_search(QUESTION)
    embedder.error = None
    await meanings.refresh()

    assert before.skipped == ("meaning",)
    assert (await find(registry))[0] == "sky__forecast"


async def test_tools_are_followed_in_the_background() -> None:
    registry = tools()
    embedder = TopicEmbedder()
    meanings = follow(registry, embedder)
    task = asyncio.create_task(meanings.run())
    registry.changes.listen(lambda _kind, _uri: meanings.notify())
    await embedder.arrived.get()
    await asyncio.to_thread(registry.add, a_tool("new__one", "A letter."))

    assert await embedder.arrived.get() == ["new one\nA letter."]
    task.cancel()


async def test_a_search_goes_with_the_words_that_were_prepared() -> None:
    registry = tools()
    await follow(registry, TopicEmbedder()).refresh()
    prepared = await registry.prepare_search(QUESTION)

    assert registry.search("nothing of it", prepared=prepared) == []


async def test_the_owner_of_a_question_is_given_on() -> None:
    registry, embedder, owners = tools(), TopicEmbedder(), list[str]()
    meanings = follow(registry, embedder)
    await meanings.refresh()

    async def embed(_model: Any, texts: Any, owner: str) -> Any:
        owners.append(owner)
        return await embedder.embed(texts)

    meanings._embed_question = embed
    for principal in (LOCAL, Principal(id="ann", tenant="people")):
        await registry.prepare_search(QUESTION, principal=principal)

    assert owners == [LOCAL.owner, "people/ann"]


def test_what_is_embedded_of_a_tool_is_short_and_readable() -> None:
    tool = a_tool("shop__findOrders", "x" * 2_000, title="Orders", tags=("shop",), category="sales")

    assert describe_tool(tool) == f"shop find orders: Orders\n{'x' * 500}\nshop, sales"


@pytest.mark.parametrize(
    "question",
    ["", " \n", "?!", "the of", "\ud800 rain", "\0rain", "x" * 9_000, "rain. " * 3_000],
    ids=["empty", "blank", "marks", "stop words", "surrogate", "nul", "a long word", "many"],
)
async def test_what_is_sent_of_any_question_is_bounded(question: str) -> None:
    registry, embedder = tools(), TopicEmbedder()
    await follow(registry, embedder).refresh()
    prepared = await registry.prepare_search(question)
    registry.search(question, prepared=prepared)
    sent = [text for texts in embedder.asked[1:] for text in texts]

    assert len(embedder.asked) <= 2
    assert len(sent) <= 12
    assert sum(map(len, sent)) <= 4_000


def a_store() -> MemoryToolVectors:
    return MemoryToolVectors(ClosableLock(), most=100)


async def test_a_start_embeds_only_what_is_not_stored() -> None:
    store, first, second = a_store(), TopicEmbedder(), TopicEmbedder()
    await follow(tools(), first, store=store).refresh()
    registry = tools()
    registry.add(a_tool("sky__new", "Say whether rain has come."))
    made = await follow(registry, second, store=store).refresh()

    checked, embedded = second.asked
    assert (made, len(checked)) == (1, 1)
    assert embedded == ["sky new\nSay whether rain has come."]
    assert (await find(registry))[0] in {"sky__forecast", "sky__new"}


async def test_another_model_under_the_same_name_makes_all_vectors_anew() -> None:
    class Turned(TopicEmbedder):
        async def embed(self, texts: Sequence[str], /) -> list[list[float]]:
            return [vector[::-1] for vector in await super().embed(texts)]

    store, after = a_store(), TopicEmbedder()
    await follow(tools(), TopicEmbedder(), store=store).refresh()
    again = await follow(tools(), Turned(), store=store).refresh()
    await follow(tools(), Turned(), store=store).refresh()

    assert again == 13
    assert await follow(tools(), after, store=store).refresh() == 13


async def test_a_model_that_refuses_a_stored_text_makes_all_vectors_anew() -> None:
    store, other = a_store(), TopicEmbedder()
    await follow(tools(), TopicEmbedder(), store=store).refresh()
    other.poison = "refund"
    registry = tools()
    await follow(registry, other, store=store).refresh()

    assert len(await store.find(other.name, [*follow_digests(registry)])) == 12


def follow_digests(registry: ToolRegistry) -> list[bytes]:
    texts = (describe_tool(tool).encode() for tool in registry)
    return [blake2b(text, digest_size=16).digest() for text in texts]


async def test_stored_vectors_of_several_lengths_are_made_anew() -> None:
    store, embedder, registry = a_store(), TopicEmbedder(), tools()
    first, second, *_ = follow_digests(registry)
    await store.put(embedder.name, {first: [0.1, 1.0, 0.0, 0.0], second: [1.0]})
    await follow(registry, embedder, store=store).refresh()

    assert (await find(registry))[0] == "sky__forecast"
    assert {len(v) for v in (await store.find(embedder.name, [first, second])).values()} == {4}


async def test_without_its_store_tools_are_embedded(caplog: pytest.LogCaptureFixture) -> None:
    gate = ClosableLock()
    gate.close()
    registry = tools()
    made = await follow(registry, TopicEmbedder(), store=MemoryToolVectors(gate, most=1)).refresh()

    assert made == 13
    assert (await find(registry))[0] == "sky__forecast"
    assert "stored vectors of tools are not read" in caplog.text
