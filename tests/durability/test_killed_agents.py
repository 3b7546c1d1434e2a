"""`kill -9` while an agent works as a tool of a run: the next process goes on with it."""

from collections.abc import Generator
from pathlib import Path

import pytest
from tests.durability.served import Server, a_board, journal, until
from tests.models.made import Provider, call, provider_in_thread, text

AGENT = """
  - {kind: agents, name: staff, config: {agents: [{name: aide, tools: [my__write, HELD]}]}}
"""
BOARD = """
sources:
  - {kind: functions, name: my, config: {files: [steps.py]}}
"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(90)]


@pytest.fixture
def provider() -> Generator[Provider]:
    with provider_in_thread() as opened:
        yield opened


@pytest.mark.parametrize(
    ("held", "begins", "told"),
    [
        ("my__read_held", ["two begins", "two begins", "two"], "two"),
        ("my__write_held", ["two begins"], "is unknown"),
    ],
    ids=["may be done twice", "must not be done twice"],
)
def test_an_agent_goes_on_and_repeats_neither_turns_nor_calls(
    held: str, begins: list[str], told: str, tmp_path: Path, provider: Provider
) -> None:
    folder = a_board(tmp_path)
    (folder / "board.yaml").write_text(BOARD + AGENT.replace("HELD", held))
    environment = {
        "OPENAI_BASE_URL": provider.url,
        "PEGBOARD_MODEL": "tiny-1",
        "PEGBOARD_DATA": str(tmp_path / "data"),
    }
    provider.answers += [
        call("my__write", '{"step": "one"}'),
        call(held, '{"step": "two"}'),
        text("The second may not have worked."),
    ]
    node = {"id": "ask", "tool": "staff__aide", "input": {"task": "Do both."}}
    with Server(folder, environment=environment) as first:
        run_id = first.start(node)
        until(lambda: "two begins" in journal(folder))
        asked = len(provider.requests)
        first.kill()
    (folder / "go").touch()
    with Server(folder, environment=environment) as second:
        run = until(second.in_state, run_id, "completed")

    assert run["output"] == {"ask": "The second may not have worked."}
    assert journal(folder) == ["one", *begins]
    assert (asked, len(provider.requests)) == (2, 3)
    assert told in provider.requests[-1]["messages"][-1]["content"]
