from pathlib import Path

from pegboard.core.principal import LOCAL
from pegboard.runtime import Settings
from pegboard.runtime.board_file.load import parse_board
from pegboard.runtime.current_board import CurrentBoard

BOARD = "env: {region: '${REGION}'}\npolicy: {deny: ['${API_TOKEN}']}\n"


def test_a_reload_replaces_the_file_and_masks_the_secrets_of_both() -> None:
    path = Path("board.yaml")
    first = parse_board(BOARD, {"REGION": "eu", "API_TOKEN": "first-secret"}, path=path)
    second = parse_board(BOARD, {"REGION": "us", "API_TOKEN": "other-secret"}, path=path)
    current = CurrentBoard(first, Settings(), [])

    current.replace(second, [])

    assert current.loaded is second
    assert current.env_of(LOCAL) == {"region": "us"}
    assert "secret" not in current.masking("first-secret other-secret")
