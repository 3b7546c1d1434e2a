"""A board packs its bases in the background, and a deletion takes the packed copy along."""

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import select
from tests.features.knowledge.test_deletion_everywhere import put, until

from pegboard import Pegboard
from pegboard.core.principal import LOCAL
from pegboard.features.knowledge import NewBase
from pegboard.knowledge import index_upkeep
from pegboard.runtime import Settings
from pegboard.storage.knowledge.entry_codec import hash_term
from pegboard.storage.knowledge_tables import PIECE_SEGMENTS
from pegboard.storage.sql.knowledge import segments as knowledge_segments


async def count_with(board: Pegboard, word: str) -> int:
    """How many segments have a word."""
    storage: Any = board.registry.environment.journal
    rows = await storage._database.read(lambda it: it.all(select(PIECE_SEGMENTS.c.body)))
    term = hash_term(word).to_bytes(8, "little")
    return sum(term in row.body for row in rows)


async def test_a_board_packs_what_an_earlier_one_has_taken_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(index_upkeep, "MIN_PIECES", 1)
    monkeypatch.setattr(knowledge_segments, "_MIN_PIECES", 1)
    monkeypatch.setattr(knowledge_segments, "_MIN_SEGMENT", 1)
    settings = Settings(data=tmp_path)
    async with Pegboard(settings=settings) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)
        document = await put(board, base, "Wages", b"The zanzibar bonus is paid in May.")

    async with Pegboard(settings=settings) as board:
        await board.resume_interrupted()
        await until(lambda: count_with(board, "zanzibar"))
        await board.knowledge.documents.delete(base, document, principal=LOCAL)
        assert await count_with(board, "zanzibar") == 0
