import pytest

from pegboard.core.tool import Effect, Status
from pegboard.errors import ConfigError
from pegboard.runtime.board_file.models import member


def test_a_text_becomes_the_member_it_names() -> None:
    assert member(Effect, "read", "board.yaml:3") is Effect.READ
    assert member(Status, "deprecated", "board.yaml:3") is Status.DEPRECATED


def test_another_text_is_told_with_its_place_and_what_is_known() -> None:
    with pytest.raises(ConfigError) as raised:
        member(Effect, "destroy", "board.yaml:3")

    said = "board.yaml:3: 'destroy' should be one of read, write, admin"
    assert str(raised.value) == said
