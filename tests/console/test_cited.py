"""A citation of a chat leads to its place in a document, in a real browser.

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
from tests.models.made import a_provider, call, text
from tests.peers.node import node

BOARD = "sources: [{kind: builtin, name: std, config: {include: [calculator]}}]\n"
DOCUMENTS = {
    "shop/returns.md": "# Returns\n\nRecords can be returned within 30 days of purchase with the "
    "receipt.\n",
    "shop/rules/hours.md": "# Opening hours\n\nThe shop opens at nine on weekdays.\n",
    "shop/.hidden.md": "# Hidden\n\nA file of the system.\n",
}
STEPS = [
    "a dropped folder keeps its paths",
    "an upload that a reload interrupts goes on where it was",
    "a citation of a chat opens the document at the quote",
    "a document knows the answers that cite it",
    "what changed is shown, counts first",
    "what is said of a document",
    "a deletion names the answers that it touches",
]


async def walk(folder: Path) -> dict[str, Any]:
    """What a browser reports of its way from a folder to a quote."""
    async with a_provider() as provider:
        provider.answers += [
            call("kb_retrieve", '{"question": "Within how many days can a record be returned?"}'),
            text("A record can be returned within 30 days of purchase [1]."),
        ]
        model = {"OPENAI_BASE_URL": provider.url, "PEGBOARD_MODEL": "tiny-1"}
        async with served(folder, **model) as server:
            process = await asyncio.create_subprocess_exec(
                str(node()),
                str(HERE / "cited.mjs"),
                env={
                    **os.environ,
                    "TMPDIR": str(BROWSER),
                    "CONSOLE_URL": server.url,
                    "FOLDER": str(folder / "shop"),
                },
                stdout=asyncio.subprocess.PIPE,
            )
            said, _ = await process.communicate()
    report: dict[str, Any] = json.loads(said)
    return report


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_citation_leads_to_its_place_and_knows_what_becomes_of_it(tmp_path: Path) -> None:
    check_built()
    (tmp_path / "board.yaml").write_text(BOARD)
    for name, content in DOCUMENTS.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)

    report = await walk(tmp_path)

    assert report["faults"] == [], "\n".join(report["faults"])
    assert report["done"] == STEPS
