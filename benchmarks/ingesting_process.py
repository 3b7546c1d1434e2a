"""The process that `ingesting.py` starts: it takes documents in, and a document that has changed.

It takes a JSON object as its argument, and prints one with figures.
"""

import asyncio
import json
import random
import sys
import textwrap
import time
import urllib.request
from collections.abc import AsyncIterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from asking_process import EMBEDDER
from measure import peak_of_self_mb
from seeded_texts import make_text

WORDS_OF_PAGE = 330
ENDED = {"ready", "held", "failed"}


def make_markdown(number: int, *, pages: int) -> bytes:
    """A document with a heading for each page."""
    chance = random.Random(f"markdown {number}")
    parts: list[str] = []
    for page in range(1, pages + 1):
        parts.append(f"# Part {page}")
        parts += [make_text(chance, WORDS_OF_PAGE // 3) for _ in range(3)]
    return "\n\n".join(parts).encode()


def make_page(name: object) -> str:
    """The text of a page."""
    return make_text(random.Random(f"page {name}"), WORDS_OF_PAGE)


def make_pdf(pages: Sequence[str]) -> bytes:
    """A PDF with these texts in Helvetica, one a page (ISO 32000-1)."""
    kids = " ".join(f"{4 + 2 * at} 0 R" for at in range(len(pages)))
    bodies = [
        b"<< /Type /Catalog /Pages 2 0 R >>",
        f"<< /Type /Pages /Kids [{kids}] /Count {len(pages)} >>".encode(),
        b"<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>",
    ]
    for at, text in enumerate(pages):
        lines = "".join(f"({line}) Tj T*\n" for line in textwrap.wrap(text, 90))
        stream = f"BT /F1 10 Tf 14 TL 50 800 Td\n{lines}ET".encode()
        bodies += [
            (
                "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents "
                f"{5 + 2 * at} 0 R /Resources << /Font << /F1 3 0 R >> >> >>"
            ).encode(),
            b"<< /Length %d >>\nstream\n%b\nendstream" % (len(stream), stream),
        ]
    found, places = b"%PDF-1.4\n", list[int]()
    for number, body in enumerate(bodies, 1):
        places.append(len(found))
        found += b"%d 0 obj\n%b\nendobj\n" % (number, body)
    rows = b"".join(b"%010d 00000 n \n" % place for place in places)
    size = len(bodies) + 1
    table = b"xref\n0 %d\n0000000000 65535 f \n%b" % (size, rows)
    return found + b"%btrailer\n<< /Size %d /Root 1 0 R >>\nstartxref\n%d\n%%%%EOF\n" % (
        table,
        size,
        len(found),
    )


async def ingest(task: Mapping[str, Any]) -> dict[str, Any]:
    """Documents a second, the memory that this took, and what one changed page costs."""
    from pydantic import SecretStr

    from pegboard import Pegboard
    from pegboard.core.principal import LOCAL
    from pegboard.features.knowledge import NewBase, NewDocument
    from pegboard.features.knowledge.documents import DocumentQuery
    from pegboard.runtime import Settings

    settings = Settings(
        data=Path(task["data"]),
        database=SecretStr(task["database"]) if task["database"] else None,
        embed_model=EMBEDDER if task["meaning"] else "",
    )
    async with Pegboard(settings=settings) as board:
        base = await board.knowledge.add_base(NewBase(name="handbook"), principal=LOCAL)

        async def put(files: Mapping[str, bytes]) -> tuple[float, int]:
            """Seconds until all are ready, and how many texts were embedded."""
            began, texts = time.monotonic(), _count_texts(task)
            for name, body in files.items():
                new = NewDocument(name=name, chunks=_once(body))
                await board.knowledge.documents.add(base, new, principal=LOCAL)
            while True:
                query = DocumentQuery(limit=1_000)
                rows, _ = await board.knowledge.documents.list_page(base, query, principal=LOCAL)
                if all(row.state in ENDED for row in rows):
                    break
                await asyncio.sleep(0.01)
            failed = [row.reason for row in rows if row.state != "ready"]
            if failed:
                raise AssertionError(f"not taken in: {failed[0]}")
            return time.monotonic() - began, _count_texts(task) - texts

        await put({"first.md": make_markdown(-1, pages=1)})
        many = range(task["documents"])
        markdown, _ = await put({f"{at}.md": make_markdown(at, pages=10) for at in many})
        pages = {at: [make_page((at, page)) for page in range(10)] for at in many}
        pdf, _ = await put({f"{at}.pdf": make_pdf(those) for at, those in pages.items()})
        long = [make_page(page) for page in range(100)]
        whole = await put({"long.pdf": make_pdf(long)})
        long[49] = make_page("changed")
        changed = await put({"long.pdf": make_pdf(long)})
        return {
            "markdown": len(many) / markdown,
            "pdf": len(many) / pdf,
            "whole": whole,
            "changed": changed,
            "peak": peak_of_self_mb(),
        }


def _count_texts(task: Mapping[str, Any]) -> int:
    with urllib.request.urlopen(f"{task['address']}/count") as answer:
        return json.load(answer)["texts"]


async def _once(body: bytes) -> AsyncIterator[bytes]:
    yield body


if __name__ == "__main__":
    print(json.dumps(asyncio.run(ingest(json.loads(sys.argv[1])))))
