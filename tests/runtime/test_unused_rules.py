from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime import Pegboard
from pegboard.runtime.unused_rules import may_match

BOARD = """
sources:
  - {kind: functions, name: my, config: {files: [tools.py]}}
  - {kind: functions, name: gone, config: {modules: [there_is_none]}}
  - {kind: functions, name: off, enabled: false, config: {modules: [there_is_none]}}
policy:
  strict: STRICT
  deny:
    - my__greet
    - RULE
"""
TOOLS = '''
from pegboard import tool


@tool
def greet() -> str:
    """Greet."""
    return "hello"
'''


def board_file(folder: Path, rule: str, *, strict: bool) -> Path:
    (folder / "tools.py").write_text(TOOLS)
    path = folder / "board.yaml"
    path.write_text(BOARD.replace("RULE", f'"{rule}"').replace("STRICT", str(strict).lower()))
    return path


async def test_a_strict_policy_refuses_to_start_with_a_rule_that_matches_nothing(
    tmp_path: Path,
) -> None:
    board = Pegboard(board_file(tmp_path, "my__gret", strict=True))

    with pytest.raises(ConfigError, match=r"^board\.yaml:10: policy\.deny: 'my__gret' matches no"):
        await board.__aenter__()

    assert not board.is_open


async def test_a_strict_policy_refuses_to_reload_and_the_board_stays(tmp_path: Path) -> None:
    path = board_file(tmp_path, "my__g*", strict=True)
    async with Pegboard(path) as board:
        board_file(tmp_path, "my__gret", strict=True)
        with pytest.raises(ConfigError, match=r"board\.yaml:10: .* the policy is strict"):
            await board.reload()

        assert board.registry.environment.policy.deny == ("my__greet", "my__g*")
        assert "my__gret" in board.problem


async def test_a_strict_policy_knows_the_tools_that_a_source_has_since_the_reload(
    tmp_path: Path,
) -> None:
    path = board_file(tmp_path, "my__g*", strict=True)
    async with Pegboard(path) as board:
        board_file(tmp_path, "my__wave", strict=True)
        (tmp_path / "tools.py").write_text(TOOLS + TOOLS.replace("greet", "wave"))
        await board.reload()

        assert board.registry.environment.policy.deny == ("my__greet", "my__wave")


@pytest.mark.parametrize(
    ("rule", "reason"),
    [
        ("my__gret", "it matches no tool; did you mean 'my__greet'?"),
        ("my__*elsewhere", "it matches no tool"),
        ("gone__refund", "no tool yet: source 'gone' failed"),
        ("*refund", "no tool yet: source 'gone' failed"),
        ("off__refund", "no tool yet: source 'off' is disabled"),
    ],
)
async def test_a_rule_of_an_unavailable_source_is_no_misspelt_one(
    tmp_path: Path, rule: str, reason: str
) -> None:
    async with Pegboard(board_file(tmp_path, rule, strict=False)) as board:
        (unused,) = board.find_unused_rules()

    assert (unused.glob, unused.where) == (rule, "board.yaml:10")
    assert unused.reason == reason


async def test_a_strict_policy_starts_while_a_source_is_down(tmp_path: Path) -> None:
    async with Pegboard(board_file(tmp_path, "gone__refund", strict=True)) as board:
        assert board.is_open


@pytest.mark.parametrize(
    ("glob", "expected"),
    [
        ("shop__refund", True),
        ("shop_", False),
        ("shop__", True),
        ("s?op__*", True),
        ("[rs]hop__*", True),
        ("[!s]hop__*", False),
        ("sh*", True),
        ("*", True),
        ("other__*", False),
        ("[shop__*", False),
        ("", False),
    ],
)
def test_whether_a_glob_can_match_a_tool_of_a_source(glob: str, *, expected: bool) -> None:
    assert may_match(glob, "shop__") is expected
