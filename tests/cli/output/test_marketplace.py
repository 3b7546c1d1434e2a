"""A review on paper: what is there is told, what is not takes no line."""

from pathlib import Path
from typing import Any

import pytest

from pegboard.cli.output.marketplace import print_review
from pegboard.features.marketplace.entries import (
    InstallOption,
    Label,
    Market,
    MarketEntry,
    RequiredValue,
)
from pegboard.features.marketplace.review import EntrySelection, review_entry


async def nothing(kind: str, config: Any) -> list[Any]:
    del kind, config
    return []


async def test_what_an_entry_does_not_say_takes_no_line(capsys: pytest.CaptureFixture[str]) -> None:
    market = Market(kind="mcp_registry", name="m", place="x", base_dir=Path())
    way = InstallOption(
        name="remote-1", source_kind="mcp", config={"url": "https://x"}, address="https://x"
    )
    entry = MarketEntry(market="m", id="a/b", kind="MCP server", short="b", ways=(way,))

    review = await review_entry(entry, market, EntrySelection(), look=nothing, environ={})
    print_review(review.shown)

    assert capsys.readouterr().out == (
        "entry: m/a/b\n"
        "kind: MCP server\n"
        "way: remote-1\n"
        "address: https://x\n"
        "over HTTP: cannot be added. It has no tools.\n"
        "\n"
        "tool  effect  description\n"
        "\n"
        "sources:\n"
        "- kind: mcp\n"
        "  name: b\n"
        "  config:\n"
        "    url: https://x\n"
        "\n"
        f"digest: {review.digest}\n"
    )


async def test_all_that_it_says_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    market = Market(kind="mcp_registry", name="m", place="x", base_dir=Path())
    need = RequiredValue(
        name="KEY", place="header", variable="MARKET_B_KEY", description="Ask for it."
    )
    ways = (
        InstallOption(name="remote-1", source_kind="mcp", needs=(need,), warnings=("Look out.",)),
        InstallOption(name="package-1", source_kind="mcp", runs_here=True),
    )
    entry = MarketEntry(
        market="m",
        id="a/b",
        kind="MCP server",
        title="B",
        description="Does b.",
        labels=(Label(name="b", told_as="tag"),),
        short="b",
        warnings=("It is old.",),
        ways=ways,
    )

    review = await review_entry(
        entry, market, EntrySelection(), look=nothing, environ={"MARKET_B_KEY": "secret"}
    )
    print_review(review.shown)

    told = capsys.readouterr().out
    assert "title: B\n" in told
    assert "description: Does b.\n" in told
    assert "found by: b (tag)\n" in told
    assert "way: remote-1 (there are also: package-1)\n" in told
    assert "needs: KEY (header): MARKET_B_KEY is set. Ask for it.\n" in told
    assert "! It is old.\n! Look out.\n" in told
    assert (
        "Its tools are unknown: its server is not queried while required values are missing.\n"
        in told
    )
    assert "secret" not in told
