"""A tool asks in a chat, and the person answers in the console, in a real browser.

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
from tests.peers.ports import free_port

SHOP = '''
"""A shop that asks for sizes."""

from pegboard import ToolContext, tool
from pegboard.core.elicitation import Question

SIZE = {
    "type": "object",
    "properties": {"size": {"type": "integer", "title": "Your size", "minimum": 1}},
    "required": ["size"],
}


@tool(effect="write")
async def order(ctx: ToolContext) -> str:
    """Order a shirt; ask for its size."""
    answer = await ctx.ask(Question(message="Which size?", schema=SIZE))
    return f"{answer.action} {dict(answer.content)}"
'''
BOARD = """
sources: [{{kind: functions, name: shop, config: {{files: [shop.py]}}}}]
search_by_meaning: true
models:
  embed: down
  named: {{down: {{model: openai:v, base_url: "http://127.0.0.1:{port}/v1", retries: 0}}}}
"""
STEPS = [
    "a tool asks in a chat",
    "an answer that does not fit is refused in the card",
    "a reload while it waits",
    "the answer goes on",
    "it is settled after a reload, too",
    "declined from another tab",
    "tools are found by words where the embedding model is down",
]


async def walk(folder: Path) -> tuple[dict[str, Any], list[Any]]:
    """What a browser reports of its way, and what the model was sent."""
    async with a_provider() as provider:
        provider.answers += [
            call("shop__order", "{}"),
            text("Ordered in size 7."),
            call("shop__order", "{}"),
            text("Not ordered."),
        ]
        model = {"OPENAI_BASE_URL": provider.url, "PEGBOARD_MODEL": "tiny-1"}
        async with served(folder, **model) as server:
            process = await asyncio.create_subprocess_exec(
                str(node()),
                str(HERE / "questions.mjs"),
                env={**os.environ, "TMPDIR": str(BROWSER), "CONSOLE_URL": server.url},
                stdout=asyncio.subprocess.PIPE,
            )
            said, _ = await process.communicate()
        requests = [item["messages"] for item in provider.requests if "messages" in item]
    return json.loads(said), requests


@pytest.mark.slow
@pytest.mark.timeout(300)
async def test_a_question_of_a_tool_is_answered_in_the_console(tmp_path: Path) -> None:
    check_built()
    (tmp_path / "shop.py").write_text(SHOP)
    (tmp_path / "board.yaml").write_text(BOARD.format(port=free_port()))

    report, requests = await walk(tmp_path)

    assert report["faults"] == [], "\n".join(report["faults"])
    assert report["done"] == STEPS
    given = [messages[-1]["content"] for messages in requests if messages[-1]["role"] == "tool"]
    assert given == ["accept {'size': 7}", "decline {}"]
