"""A person's own language model on a board without one, and a skill from an archive, in a browser.

`make web` builds what is tested, `make peers` installs the browser. With `CONSOLE_SHOTS=DIR` a
picture of each page is written to that folder.
"""

import asyncio
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import pytest
from tests.console.server import BROWSER, HERE, check_built, served
from tests.models.made import a_provider, text
from tests.peers.node import node

TOKEN = "correct horse battery staple"
KEY = "sk-of-bob-alone"
STEPS = [
    "two people",
    "a model is added with its address",
    "its key is a credential",
    "it answers in a chat",
    "it is shared",
    "it is published",
    "a skill from an archive",
]
SKILL = "---\nname: refunds\ndescription: How to refund.\n---\n\nAsk before you pay back.\n"


async def run(folder: Path) -> dict[str, Any]:
    """What two browsers report of their way through the server, with what the model was sent."""
    with zipfile.ZipFile(folder / "skill.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("refunds/SKILL.md", SKILL)
        archive.writestr("refunds/references/damage.md", "Ask for a picture.\n" * 20)
    (folder / "broken.zip").write_bytes(b"no archive")
    async with a_provider() as provider:
        provider.answers += [text("Hello from the tiny model.")]
        host = provider.url.split("/")[2]
        board = f'sources: [{{kind: builtin, name: std}}]\nnetwork: {{allow_hosts: ["{host}"]}}\n'
        (folder / "board.yaml").write_text(board)
        async with served(folder, PEGBOARD_TOKEN=TOKEN) as server:
            process = await asyncio.create_subprocess_exec(
                str(node()),
                str(HERE / "models.mjs"),
                env={
                    **os.environ,
                    "TMPDIR": str(BROWSER),
                    "CONSOLE_URL": server.url,
                    "CONSOLE_TOKEN": TOKEN,
                    "CONSOLE_PROVIDER": provider.url,
                    "CONSOLE_KEY": KEY,
                    "CONSOLE_FOLDER": str(folder),
                },
                stdout=asyncio.subprocess.PIPE,
            )
            told, _ = await process.communicate()
        report: dict[str, Any] = json.loads(told)
        sent = [(asked["model"], known["authorization"]) for asked, known in _sent(provider)]
        return report | {"sent": sent}


def _sent(provider: Any) -> Any:
    return zip(provider.requests, provider.headers, strict=True)


@pytest.mark.slow
@pytest.mark.timeout(240)
async def test_a_person_brings_a_model_and_a_skill(tmp_path: Path) -> None:
    check_built()

    report = await run(tmp_path)

    assert report["faults"] == [], "\n".join(report["faults"])
    assert report["done"] == STEPS
    assert report["sent"] == [("tiny-1", f"Bearer {KEY}")]
