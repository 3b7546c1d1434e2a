"""Each question of a run has one answer; whoever comes later hears that, early or late."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.features.runs.test_service import ADA, WAITING, Service

from pegboard.errors import AlreadyAnswered, InvalidRequest
from pegboard.storage import MemoryStorage


@pytest.fixture
async def service() -> AsyncIterator[Service]:
    async with MemoryStorage() as storage:
        made = Service(storage)
        yield made
        await made.durability.close()
        await made.feed.close()


async def asking(service: Service) -> tuple[str, str]:
    view = await service.runs.start_graph(WAITING, principal=ADA)
    seen = await service.runs.wait(view.id, principal=ADA)
    return view.id, seen.result.pending[0].id


async def test_of_answers_at_once_one_counts_and_the_others_are_told_so(service: Service) -> None:
    run_id, question = await asking(service)
    given = [
        asyncio.ensure_future(service.runs.answer(run_id, question, word, principal=ADA))
        for word in "abcd"
    ]
    await asyncio.wait(given)
    refused = [type(each.exception()) for each in given if each.exception() is not None]
    (counted,) = [w for w, each in zip("abcd", given, strict=True) if each.exception() is None]
    ended = await service.runs.wait(run_id, principal=ADA)
    step = ended.result.node("ask")

    assert refused == [AlreadyAnswered] * 3
    assert step is not None
    assert step.output == counted


async def test_an_answer_that_comes_late_is_told_so_too(service: Service) -> None:
    run_id, question = await asking(service)
    await service.runs.answer(run_id, question, "first", principal=ADA)
    await service.runs.wait(run_id, principal=ADA)

    with pytest.raises(AlreadyAnswered, match="has already been answered"):
        await service.runs.answer(run_id, question, "second", principal=ADA)


async def test_what_was_never_asked_is_another_thing(service: Service) -> None:
    run_id, _ = await asking(service)

    with pytest.raises(InvalidRequest, match="does not ask 'else'"):
        await service.runs.answer(run_id, "else", "x", principal=ADA)
