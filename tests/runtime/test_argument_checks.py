from pathlib import Path
from typing import Any

import pytest

from pegboard import Pegboard
from pegboard.errors import ConfigError
from pegboard.runtime.argument_checks import (
    as_tuple,
    check_policy,
    load_configured_board,
    resolve_settings,
)
from pegboard.runtime.settings import Settings


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"board": {"sources": []}}, "board: write the path of a file or folder, not a mapping"),
        ({"board": ["a.yaml"]}, "board: write the path of a file or folder, not a list"),
        ({"board": b"a.yaml"}, "board: write the path of a file or folder, not bytes"),
        ({"board": 3}, "board: write the path of a file or folder, not a value of type int"),
        ({"data": {"a": "s3cret"}}, "data: write the path of a file or folder, not a mapping"),
        (
            {"settings": {"port": 1}},
            "settings: expected a Settings(...) or None, not a mapping",
        ),
        ({"settings": {}}, "settings: expected a Settings(...) or None, not a mapping"),
        ({"tools": 3}, "tools: expected a list, not a value of type int"),
        ({"tools": "add"}, "tools: expected a list, not a text"),
        (
            {"policy": {"deny": ["a"]}},
            'policy: expected a Policy, as Policy(deny=("*delete*",)), not a mapping',
        ),
        ({"listeners": 3}, "listeners: expected a list, not a value of type int"),
    ],
    ids=str,
)
def test_a_wrong_type_gets_a_sentence(given: dict[str, Any], reason: str) -> None:
    with pytest.raises(ConfigError) as caught:
        Pegboard(**given)

    assert str(caught.value) == reason
    assert caught.value.__cause__ is None


def test_what_is_left_out_comes_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PEGBOARD_PORT", "4711")

    found = resolve_settings(None, board="b.yaml", data=None)

    assert (found.port, found.board, found.data) == (4711, Path("b.yaml"), None)
    assert resolve_settings(Settings(port=1), board=None, data=None).port == 1


def test_anything_that_can_be_gone_through_is_several() -> None:
    assert as_tuple("tools", (item for item in "ab")) == ("a", "b")


def test_settings_without_a_board_file_mean_the_built_in_tools(tmp_path: Path) -> None:
    (tmp_path / "board.yaml").write_text("sources: []\n")

    alone = load_configured_board(Settings())
    named = load_configured_board(Settings(board=tmp_path / "board.yaml"))

    assert [entry.kind for entry in alone.board.sources] == ["builtin"]
    assert (named.board.sources, named.base_dir) == ((), tmp_path.resolve())


def test_a_policy_may_be_left_out() -> None:
    assert check_policy(None) is None
