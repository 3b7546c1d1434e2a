"""What it costs to take documents into a knowledge base, and one with a changed page again.

By hand: `python benchmarks/ingesting.py`. The embeddings are of a server that answers at once, so
that they cost what Pegboard does for them, not what a model does.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from asking import serve_embeddings
from databases import postgres
from table import number, section, table

PROCESS = Path(__file__).with_name("ingesting_process.py")
DOCUMENTS = 30


def cost_of_ingesting() -> str:
    """Documents a second on both databases, by words alone and with vectors."""
    figures: dict[str, dict[str, Any]] = {}
    with tempfile.TemporaryDirectory() as name, serve_embeddings() as address:
        os.environ |= {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
        for backend in ("SQLite", "PostgreSQL"):
            for meaning in (False, True):
                case = f"{backend}, {'words and vectors' if meaning else 'words'}"
                task = {
                    "data": str(Path(name) / case),
                    "meaning": meaning,
                    "documents": DOCUMENTS,
                    "address": address,
                }
                figures[case] = _measure(task, has_server=backend == "PostgreSQL")
                print(case, figures[case], flush=True)
    return _render(figures)


def _measure(task: Mapping[str, Any], *, has_server: bool) -> dict[str, Any]:
    if has_server:
        with postgres() as database:
            return _run({**task, "database": database})
    return _run({**task, "database": ""})


def _run(task: Mapping[str, Any]) -> dict[str, Any]:
    command = [sys.executable, str(PROCESS), json.dumps(task)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def _render(figures: Mapping[str, Mapping[str, Any]]) -> str:
    rates = [
        [
            name,
            number(found["markdown"]),
            number(found["pdf"]),
            number(found["peak"]),
        ]
        for name, found in figures.items()
    ]
    pages = [
        [name, *(number(value) for key in ("whole", "changed") for value in found[key])]
        for name, found in figures.items()
    ]
    head = ["documents of 10 pages", "Markdown, a second", "PDF, a second"]
    costs = ["the first time, s", "texts embedded", "one page changed, s", "texts embedded"]
    return section(
        "Taking documents in",
        table([*head, "peak memory, MB"], rates),
        table(["A PDF of 100 pages", *costs], pages),
    )


if __name__ == "__main__":
    print(cost_of_ingesting())
