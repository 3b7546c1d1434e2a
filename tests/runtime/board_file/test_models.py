import pytest

from pegboard.core.tool import Effect, Status
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.models import parse_member


def test_a_text_becomes_the_member_it_names() -> None:
    assert parse_member(Effect, "read", "board.yaml:3") is Effect.READ
    assert parse_member(Status, "deprecated", "board.yaml:3") is Status.DEPRECATED


def test_another_text_is_told_with_its_place_and_what_is_known() -> None:
    with pytest.raises(ConfigError) as raised:
        parse_member(Effect, "destroy", "board.yaml:3")

    said = "board.yaml:3: 'destroy' should be one of read, write, admin"
    assert str(raised.value) == said
