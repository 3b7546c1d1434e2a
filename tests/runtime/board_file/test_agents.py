"""The `agents:` section of a board file: strict, each mistake with its line."""

from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime.board_file.agents import AgentEntry, AgentLimitsEntry, ToolModesEntry
from pegboard.runtime.board_file.load import parse_board

FULL = """
agents:
  - name: shop
    description: Orders.
    instructions: You work for a shop.
    model: openai:gpt-5.2
    tools: ["shop__*", calculator]
    tool_categories: [time]
    connector_ids: [crm, "s*"]
    tool_modes: {connector: direct}
    model_config: {skill_tool_mode: inline}
    engine: react
    limits: {turns: 5, calls: 9, tokens: 1000, cost: 0.5}
    temperature: 0
    concurrent_tool_calls: false
"""


def test_every_key_of_an_agent_is_read() -> None:
    [entry] = parse_board(FULL, {}, path=Path("board.yaml")).board.agents

    assert entry == AgentEntry(
        name="shop",
        description="Orders.",
        instructions="You work for a shop.",
        model="openai:gpt-5.2",
        tools=("shop__*", "calculator"),
        tool_categories=("time",),
        connector_ids=("crm", "s*"),
        tool_modes=ToolModesEntry(connector="direct", skill="inline"),
        engine="react",
        limits=AgentLimitsEntry(turns=5, calls=9, tokens=1000, cost=0.5),
        temperature=0,
        concurrent_tool_calls=False,
    )


@pytest.mark.parametrize(
    ("written", "message"),
    [
        ("{name: shop, tolls: []}", "board.yaml:2: agents[0].tolls: unknown key"),
        ("{description: x}", "board.yaml:2: agents[0].name: missing"),
        ("{name: auto}", "'auto' means that no agent is chosen"),
        ("{name: a b}", "agents[0].name"),
        (
            "{name: shop, engine: magic}",
            "should be 'auto', 'react' or 'dag', found 'magic'",
        ),
        ("{name: shop, limits: {turns: 0}}", "agents[0].limits.turns"),
        ("{name: shop, temperature: 3}", "agents[0].temperature"),
        ("{name: shop}, {name: shop}", "more than one is 'shop'"),
    ],
    ids=["a key", "no name", "auto", "a name", "an engine", "a limit", "too hot", "twice"],
)
def test_a_mistake_is_reported_with_its_line(written: str, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_board(f"agents:\n  [{written}]\n", {}, path=Path("board.yaml"))

    assert message in str(caught.value)
    assert "board.yaml:" in str(caught.value)
