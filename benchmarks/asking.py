"""What a question to a knowledge base costs, from the call of `kb_retrieve` to texts of pieces.

By hand, as it takes a quarter of an hour: `python benchmarks/asking.py [PIECES ...]`, 1,000 and
100,000 by default. With `--keep FOLDER` the databases stay there for the next time. The documents
are seeded texts and the vectors are of chance, as to embed 100,000 pieces takes hours; the time of
a search does not depend on what they mean.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Generator, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from databases import postgres
from measure import percentile
from table import goal, number, section, table

PROCESS = Path(__file__).with_name("asking_process.py")
SERVER = Path(__file__).with_name("embeddings_server.py")
SIZES = (1_000, 100_000)
QUESTIONS, ROUNDS = 100, 3
MOST = 50.0
"""Milliseconds of a question at 100,000 pieces, p95."""


def cost_of_asking(sizes: list[int], kept: Path | None = None) -> str:
    """All figures, of each size in turn; the databases of `kept` are used, or made there."""
    parts: list[str] = []
    with tempfile.TemporaryDirectory() as name, serve_embeddings() as address:
        os.environ |= {"OPENAI_BASE_URL": address, "OPENAI_API_KEY": "none"}
        board = Path(name) / "board.yaml"
        (Path(name) / "empty").mkdir()
        board.write_text("sources: []\nknowledge: [{name: handbook, folder: empty}]\n")
        for pieces in sizes:
            folder = (kept or Path(name)) / str(pieces)
            folder.mkdir(parents=True, exist_ok=True)
            with postgres(kept and folder / "pg") as database:
                figures = dict(_measure(folder, board, database, pieces))
                parts += _render(pieces, figures)
    return section("Asking a knowledge base", *parts)


def _measure(
    folder: Path, board: Path, database: str, pieces: int
) -> Iterator[tuple[str, dict[str, Any]]]:
    common = {"pieces": pieces, "questions": QUESTIONS, "rounds": ROUNDS, "board": str(board)}
    backends = {"SQLite": "", "PostgreSQL": database}
    tasks: dict[str, dict[str, Any]] = {}
    for name, address in backends.items():
        tasks[name] = {**common, "database": address, "data": str(folder / name)}
        if not (done := folder / f"{name} is filled").exists():
            print(f"Filling {name} with {pieces:,} pieces: minutes.", flush=True)
            run_process("fill", tasks[name])
            done.touch()
        print(f"{pieces:,} pieces are in {name}", flush=True)
    yield "`bm25s`, in memory", run_process("bm25s", common)
    for name, task in tasks.items():
        for meaning in (False, True):
            _drop_cached(folder / name / "pegboard.db")
            what = "words and vectors" if meaning else "words"
            yield f"{name}, {what}", run_process("ask", {**task, "meaning": meaning})


def _render(pieces: int, figures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    rows: list[list[str]] = []
    used: list[list[str]] = []
    loads: list[list[str]] = []
    goals: list[str] = []
    for name, found in figures.items():
        if "all" not in found:
            rows.append([name, *_percentiles(found["ms"]), *[""] * 4])
            loads.append([name, number(found["first"]), "", number(found["memory"])])
            continue
        times = [found[caller]["ms"] for caller in ("all", "half", "1 %")]
        rows.append([name, *(text for item in times for text in _percentiles(item))])
        loads.append(
            [
                name,
                number(found["first"]),
                number(found["cold"] + found["first"]),
                number(found["memory"]),
            ]
        )
        cpu = [found[caller]["cpu"] for caller in ("all", "half", "1 %")]
        used.append([name, *(text for item in cpu for text in _percentiles(item))])
        slowest = max(percentile(item, 95) for item in times)
        if pieces >= 100_000:
            goals.append(goal(f"{name}, p95", slowest, MOST, unit=" ms"))
    shares = next(found for found in figures.values() if "all" in found)
    seen = ", ".join(f"{shares[name]['share']:.0%}" for name in ("all", "half", "1 %"))
    columns = [f"{name}, {at}" for name in ("all", "half", "few") for at in ("p50", "p95")]
    about = (
        f"{pieces:,} pieces, {QUESTIONS} questions of 14 words, the best of {ROUNDS} tries each. "
        f"Callers see {seen} of the pieces."
    )
    return [
        about,
        table(["ms on the clock", *columns], rows),
        table(["ms of CPU, without the server of PostgreSQL", *columns], used),
        table(["", "first question, s", "from a cold start, s", "memory, MB"], loads),
        "\n".join(goals),
    ]


def _percentiles(times: list[float]) -> tuple[str, str]:
    return number(percentile(times, 50)), number(percentile(times, 95))


def run_process(name: str, task: Mapping[str, Any]) -> dict[str, Any]:
    """The figures of a process of its own."""
    command = [sys.executable, str(PROCESS), name, json.dumps(task)]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


@contextmanager
def serve_embeddings() -> Generator[str]:
    """The address of a server of embeddings that answers at once."""
    command = [sys.executable, str(SERVER)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            yield f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
        finally:
            server.terminate()


def _drop_cached(file: Path) -> None:
    """Let the next process read the file from the disk."""
    if file.exists():
        with file.open("rb") as opened:
            os.posix_fadvise(opened.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)


if __name__ == "__main__":
    options = argparse.ArgumentParser()
    options.add_argument("sizes", nargs="*", type=int, default=list(SIZES))
    options.add_argument("--keep", type=Path)
    asked = options.parse_args()
    print(cost_of_asking(asked.sizes, asked.keep and asked.keep.absolute()))
