"""What deleting a document costs in a large base of SQLite, and how long others wait to write.

By hand: `python benchmarks/deleting.py [PIECES]`, 100,000 by default, which takes minutes to fill.
"""

import argparse
import asyncio
import tempfile
import time
from itertools import count
from pathlib import Path

from asking import run_process
from measure import percentile
from pegboard.core.ports.knowledge.document_store import StoredDocument
from pegboard.storage import open_storage
from table import number, section, table

DELETIONS = 12
_PAUSE = 0.5
"""Seconds around a deletion in which its waits are counted."""


def cost_of_deleting(pieces: int) -> str:
    """Delete documents, one after another, while another task writes all the time."""
    with tempfile.TemporaryDirectory() as name:
        data = str(Path(name) / "data")
        filled = run_process("fill", {"pieces": pieces, "database": "", "data": data})
        took, waits = asyncio.run(_delete(Path(data), filled["documents"]))
    rows = [
        ["a deletion, ms of CPU", *_spread(took)],
        ["the longest wait of the other writer, ms on the clock", *_spread(waits)],
    ]
    about = f"{pieces:,} pieces in SQLite, {len(took)} documents deleted."
    return section("Deleting documents", about, table(["", "least", "median", "most"], rows))


async def _delete(data: Path, documents: list[str]) -> tuple[list[float], list[float]]:
    took: list[float] = []
    longest: list[float] = []
    waits: list[float] = []
    async with open_storage(data) as storage:
        other = StoredDocument(
            id="d_other",
            base="board:other",
            name="other.md",
            outer_id="other.md",
            owner="/local",
            created_at=0.0,
            updated_at=0.0,
        )
        await storage.documents.add(other)

        async def write() -> None:
            for done in count():
                began = time.monotonic()
                await storage.documents.change(other.id, {"done": done})
                waits.append((time.monotonic() - began) * 1e3)
                await asyncio.sleep(0.002)

        writing = asyncio.create_task(write())
        for document in documents[:: max(1, len(documents) // DELETIONS)][:DELETIONS]:
            await asyncio.sleep(_PAUSE)
            waits.clear()
            began = time.process_time()
            await storage.documents.delete(document)
            await storage.knowledge_index.drop_deleted()
            took.append((time.process_time() - began) * 1e3)
            await asyncio.sleep(_PAUSE)
            longest.append(max(waits))
        writing.cancel()
        await asyncio.wait([writing])
    return took, longest


def _spread(values: list[float]) -> list[str]:
    return [number(percentile(values, percent)) for percent in (0, 50, 100)]


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("pieces", nargs="?", type=int, default=100_000)
    print(cost_of_deleting(options.parse_args().pieces))
