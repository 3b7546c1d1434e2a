"""Bases and documents in a real browser: from a dropped file to a quote, and to its deletion.

`make web` builds what is tested, `make peers` installs the browser. With `CONSOLE_SHOTS=DIR` a
picture of each page is written to that folder.
"""

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from tests.console.server import BROWSER, HERE, check_built, served
from tests.peers.node import node
from tests.sources.skills.made import write_skill

HANDBOOK = HERE.parents[1] / "examples" / "shop" / "handbook"
BOARD = """
sources:
  - {kind: skills, name: house, config: {paths: [skills]}}
  - {kind: builtin, name: std, config: {include: [calculator]}}
"""
STEPS = [
    "no knowledge yet",
    "a base",
    "an address that cannot be taken in says why, also after a reload",
    "files are dropped, and become ready",
    "a new version says what it would change before it is taken in",
    "what waits for a decision is there after a reload",
    "an upload that is stopped is deleted on the server",
    "several new versions are taken in at once",
    "a long file is uploaded in parts",
    "what gives orders is held back until somebody decides",
    "a question names its quotes",
    "a quote opens at its place",
    "a question that nothing answers",
    "a document is deleted for good",
    "a base has a model of its own, or none",
    "a base asks for its name",
    "what is not there",
    "what a skill says",
    "a skill is dropped, read, edited and deleted",
]


async def walk(folder: Path) -> dict[str, Any]:
    """What a browser reports of its way from a file to its quotes."""
    async with served(folder) as server:
        process = await asyncio.create_subprocess_exec(
            str(node()),
            str(HERE / "knowledge.mjs"),
            env={
                **os.environ,
                "TMPDIR": str(BROWSER),
                "CONSOLE_URL": server.url,
                "HANDBOOK": str(HANDBOOK),
            },
            stdout=asyncio.subprocess.PIPE,
        )
        said, _ = await process.communicate()
    report: dict[str, Any] = json.loads(said)
    return report


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_documents_answer_with_their_quotes_and_are_deleted_for_good(tmp_path: Path) -> None:
    check_built()
    (tmp_path / "board.yaml").write_text(BOARD)
    front = "description: Use when a record comes back.\nallowed-tools: std__calculator std__date*"
    skill = write_skill(tmp_path / "skills" / "returns", "1. Find the order first.", front=front)
    (skill / "damage.md").write_text("Ask for a picture.")

    report = await walk(tmp_path)

    assert report["faults"] == [], "\n".join(report["faults"])
    assert report["done"] == STEPS
