"""A board with the tools of the RFC's own plan, and a few that wait, ask and write."""

import asyncio
from pathlib import Path
from typing import Any

from tests.servers.http.made import a_board
from typing_extensions import TypedDict

from pegboard import tool
from pegboard.runtime import Pegboard

WRITTEN: list[str] = []
HELD: list[asyncio.Event] = []
POLICY = "sources: []\npolicy:\n  deny: [hidden]\n"


class Page(TypedDict):
    content: str


class Clean(TypedDict):
    cleaned_text: str


class Summary(TypedDict):
    summary: str


@tool(effect="read", version="1.0.0", capabilities=("fetch_content",))
async def web_fetcher(url: str) -> Page:
    """Fetch a page."""
    await asyncio.sleep(0.02)
    return {"content": f"<p>all of {url}</p>"}


@tool(
    effect="read",
    version="2.0.0",
    capabilities=("clean_text",),
    dependencies=("web_fetcher_v1",),
)
async def text_cleaner(content: str = "", text: str = "") -> Clean:
    """Take the markup away."""
    return {"cleaned_text": (content or text).replace("<p>", "").replace("</p>", "")}


@tool(
    effect="read",
    version="3.0.0",
    capabilities=("summarize",),
    supported_tasks=("summarize_webpage",),
    dependencies=("text_cleaner_v2",),
)
async def summarizer_llm(cleaned_text: str = "", text: str = "") -> Summary:
    """Say it in short."""
    return {"summary": (cleaned_text or text)[:60]}


@tool(effect="write")
async def write_down(line: str) -> str:
    """Write a line."""
    WRITTEN.append(line)
    return line


@tool(effect="read")
async def linger(seconds: float = 30.0) -> str:
    """Take a while."""
    await asyncio.sleep(seconds)
    return "done"


@tool(effect="read")
async def hold() -> str:
    """Go on until the test lets it go."""
    await HELD[0].wait()
    return "done"


@tool(effect="read")
async def hidden() -> str:
    """Nobody may know."""
    return "secret"


TOOLS = (web_fetcher, text_cleaner, summarizer_llm, write_down, linger, hold, hidden)


def a_planned_board(folder: Path, **settings: Any) -> Pegboard:
    WRITTEN.clear()
    HELD[:] = [asyncio.Event()]
    return a_board(folder, tools=TOOLS, text=POLICY, **settings)
