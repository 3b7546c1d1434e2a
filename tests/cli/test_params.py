import pytest

from pegboard.cli.params import given_params, one_of
from pegboard.errors import InvalidRequest


def test_pairs_are_text_or_json() -> None:
    assert given_params(["a=5", "b:=5", "c=x=y", "d:=[1, null]", "e="]) == {
        "a": "5",
        "b": 5,
        "c": "x=y",
        "d": [1, None],
        "e": "",
    }


@pytest.mark.parametrize("pair", ["a", "=x", ":=1", "a:=x"])
def test_what_is_no_pair_is_refused(pair: str) -> None:
    with pytest.raises(InvalidRequest, match="--param"):
        given_params([pair])


def test_a_value_is_one_of_those_that_there_are() -> None:
    assert [one_of(("on", "off"), value, option="--x") for value in ("on", "")] == ["on", ""]
    with pytest.raises(InvalidRequest, match="--x up: there are on, off"):
        one_of(("on", "off"), "up", option="--x")
