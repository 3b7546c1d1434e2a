"""Pairs on the command line."""

import pytest

from pegboard.cli.pairs import read_pairs
from pegboard.errors import InvalidRequest


def test_pairs_are_text_or_json() -> None:
    assert read_pairs(["a=5", "b:=5", "c=x=y", "d:=[1, null]", "e="], option="--arg") == {
        "a": "5",
        "b": 5,
        "c": "x=y",
        "d": [1, None],
        "e": "",
    }


@pytest.mark.parametrize("pair", ["a", "=x", ":=1", "a:=x"])
def test_what_is_no_pair_is_refused(pair: str) -> None:
    with pytest.raises(InvalidRequest, match="--param"):
        read_pairs([pair], option="--param")
