"""What models cost for documents and questions counts for who puts them in and who asks."""

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator
from pathlib import Path

import pytest
from tests.models.made import Provider, a_provider
from tests.runtime.people import found, invite

from pegboard import Pegboard, ToolContext
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.core.principal import Principal
from pegboard.errors import QuotaExceeded
from pegboard.features.identity.quotas import QuotaSubject
from pegboard.features.knowledge import NewBase, NewDocument
from pegboard.features.knowledge.bases import KnowledgeBase
from pegboard.features.resources import ResourceChange

BOARD = """
models:
  embed: small
  named:
    small: {{model: "openai:text-embedding-3-small", base_url: "{url}", api_key: k, retries: 0}}
    large: {{model: "openai:text-embedding-3-large", base_url: "{url}", api_key: k, retries: 0}}
"""
SMALL, LARGE = 0.02e-6, 0.13e-6
"""Dollars of one token, which is what the server says that a request has used."""
TEXT = "# Leave\n\nAn employee has thirty days of paid leave."
QUESTION = {"question": "How many days of leave has an employee?"}


@pytest.fixture
async def provider() -> AsyncGenerator[Provider]:
    async with a_provider() as opened:
        yield opened


@pytest.fixture
async def board(provider: Provider, tmp_path: Path) -> AsyncGenerator[Pegboard]:
    file = tmp_path / "board.yaml"
    file.write_text(BOARD.format(url=provider.url))
    async with Pegboard(file, data="memory") as opened:
        yield opened


async def _once(text: str) -> AsyncIterator[bytes]:
    yield text.encode()


async def put_in(
    board: Pegboard, base: KnowledgeBase, principal: Principal, *, name: str = "leave.md"
) -> StoredDocument:
    """Put a document in, and wait until it is ready or has failed."""
    new = NewDocument(name=name, chunks=_once(TEXT + name))
    documents = board.knowledge.documents
    row, _ = await documents.add(base, new, principal=principal)
    while row.state not in {"ready", "failed"}:
        await asyncio.sleep(0.02)
        row = await documents.get(base, row.id, principal=principal)
    return row


async def limit(board: Pegboard, person: str, dollars: float, *, principal: Principal) -> None:
    subject = QuotaSubject(measure="cost", window="month", person=person)
    await board.identity.quotas.put(subject, dollars, principal=principal)


async def read_used(board: Pegboard, principal: Principal) -> float:
    (view,) = await board.identity.quotas.list(principal=principal)
    return view.state.used


@pytest.mark.slow
async def test_embedding_costs_who_put_the_document_in_and_then_who_asks(board: Pegboard) -> None:
    ada = await found(board)
    bob = await invite(board, ada, "bob", "editor")
    cid = await invite(board, ada, "cid", "member")
    shared = NewBase(name="leave", organisation="acme", visibility="organisation")
    base = await board.knowledge.add_base(shared, principal=bob)
    for person in ("bob", "cid"):
        await limit(board, person, 1.0, principal=ada)

    row = await put_in(board, base, bob)
    answer = await board.call("kb_retrieve", QUESTION, ToolContext(principal=cid))

    run = await board.runs.wait(row.run, principal=bob)
    assert run.result is not None
    assert run.result.count_usage().cost == pytest.approx(SMALL)
    assert (answer.meta.tokens, answer.meta.cost) == (1, pytest.approx(SMALL))
    assert answer.meta.model == "openai:text-embedding-3-small"
    assert await read_used(board, bob) == pytest.approx(SMALL)
    assert await read_used(board, cid) == pytest.approx(SMALL)


@pytest.mark.slow
async def test_what_is_spent_ends_embedding_with_its_reason_and_refuses_questions(
    board: Pegboard, provider: Provider
) -> None:
    ada = await found(board)
    base = await board.knowledge.add_base(NewBase(name="leave"), principal=ada)
    await put_in(board, base, ada)
    await limit(board, "ada", 0.0, principal=ada)
    asked = len(provider.requests)

    row = await put_in(board, base, ada, name="other.md")
    refused = await board.call("grounded_retrieve", QUESTION, ToolContext(principal=ada))

    assert (row.state, row.code) == ("failed", "quota_exceeded")
    assert "of model cost a month of this account is used up" in row.reason
    assert isinstance(refused.error, QuotaExceeded)
    assert len(provider.requests) == asked


async def test_vectors_of_a_new_model_cost_the_owner_of_the_base(board: Pegboard) -> None:
    ada = await found(board)
    base = await board.knowledge.add_base(NewBase(name="leave"), principal=ada)
    await put_in(board, base, ada)
    await limit(board, "ada", 1.0, principal=ada)

    change = ResourceChange(config={"embedder": "large"})
    base = await board.knowledge.change_base(base, change, principal=ada)
    while True:
        (view,) = await board.knowledge.view_bases([base], principal=ada)
        if view["embedder"].endswith("large") and not view["reembedding"]:
            break
        await asyncio.sleep(0.02)

    assert await read_used(board, ada) == pytest.approx(LARGE)


async def test_a_base_that_works_by_words_answers_who_has_spent_all() -> None:
    async with Pegboard(data="memory") as board:
        ada = await found(board)
        base = await board.knowledge.add_base(NewBase(name="leave"), principal=ada)
        await limit(board, "ada", 0.0, principal=ada)

        row = await put_in(board, base, ada)
        answer = await board.call("grounded_retrieve", QUESTION, ToolContext(principal=ada))

    assert (row.state, answer.error, answer.meta.tokens) == ("ready", None, None)
