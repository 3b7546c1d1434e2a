"""The console of two people on one server, in a real browser.

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

TOKEN = "correct horse battery staple"
STEPS = [
    "the first person",
    "an invitation",
    "somebody waits, and is let in",
    "the last administrator stays",
    "a key",
    "a service account, and another organisation",
    "a credential",
    "a source is connected",
    "it is shared, reviewed and published",
    "somebody of another organisation installs it",
    "a base is published, and one of its documents is its owner's alone",
    "outside catalogues are a list of their own",
    "a role of the organisation",
    "an agent of a person",
    "who may call a tool, and why",
    "a session that ended keeps what was typed",
    "too many tries count down",
]
SHOP = '''
"""A small shop."""

from pegboard import tool


@tool(effect="read", title="Find an invoice")
def find_invoice(number: int) -> dict[str, object]:
    """Find an invoice."""
    return {"number": number, "customer": "Ada Lovelace"}


@tool(effect="write")
def refund(invoice: int, amount: float) -> str:
    """Pay money back."""
    return f"{amount} of invoice {invoice} paid back"
'''
BOARD = """
sources:
  - {kind: functions, name: shop, config: {modules: [console_people]}}
  - kind: openapi
    name: bank
    config:
      base_url: https://bank.example
      auth: [{kind: caller}]
      actions: [{name: balance, path: /balance, description: Read the balance.}]
policy: {ask: [shop__refund]}
"""


async def walk(folder: Path, script: str = "people.mjs") -> dict[str, Any]:
    """What two browsers report of their way through the server."""
    async with served(folder, PEGBOARD_TOKEN=TOKEN) as server:
        process = await asyncio.create_subprocess_exec(
            str(node()),
            str(HERE / script),
            env={
                **os.environ,
                "TMPDIR": str(BROWSER),
                "CONSOLE_URL": server.url,
                "CONSOLE_TOKEN": TOKEN,
            },
            stdout=asyncio.subprocess.PIPE,
        )
        told, _ = await process.communicate()
    report: dict[str, Any] = json.loads(told)
    return report


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_two_people_share_a_server(tmp_path: Path) -> None:
    check_built()
    (tmp_path / "console_people.py").write_text(SHOP)
    (tmp_path / "board.yaml").write_text(BOARD)

    report = await walk(tmp_path)

    assert report["faults"] == [], "\n".join(report["faults"])
    assert report["done"] == STEPS
