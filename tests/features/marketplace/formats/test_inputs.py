"""What an entry asks for: given by it, missing, or a trap."""

from typing import Any

import pytest

from pegboard.features.marketplace.entries import RequiredValue, UnusableEntry
from pegboard.features.marketplace.formats.inputs import Inputs

BEARER = {
    "value": "Bearer {token}",
    "variables": {"token": {"isRequired": True, "isSecret": True, "description": "Yours."}},
}


@pytest.mark.parametrize(
    ("said", "value"),
    [
        pytest.param({"value": "x"}, "x", id="fixed"),
        pytest.param({"value": 7}, "7", id="a number"),
        pytest.param({"value": True}, "true", id="a flag"),
        pytest.param({"default": "x"}, "x", id="by default"),
        pytest.param({"value": "a{b}", "variables": {"b": {"default": "c"}}}, "ac", id="filled"),
        pytest.param({"value": "a{b}", "variables": {"b": {}}}, "a", id="filled with nothing"),
        pytest.param(
            {"value": "a{b}", "isRequired": True, "variables": {"b": {}}},
            "a${MARKET_MY_SHOP_B}",
            id="required, and so is what is in it",
        ),
        pytest.param({"value": "a{b}"}, "a{b}", id="not a variable of it"),
        pytest.param({"value": "a$b"}, "a$b", id="a dollar"),
        pytest.param({}, None, id="may be left out"),
        pytest.param({"isRequired": True}, "${MARKET_MY_SHOP_KEY}", id="missing"),
        pytest.param(BEARER, "Bearer ${MARKET_MY_SHOP_TOKEN}", id="a part is missing"),
    ],
)
def test_a_value_is_what_a_board_file_would_have(said: Any, value: str | None) -> None:
    assert Inputs("my-shop").value(said, name="KEY", place="header") == value


def test_no_gap_is_left_in_an_address() -> None:
    inputs = Inputs("my-shop")

    url = inputs.fill("https://a.example/{team}/mcp", {"team": {}}, place="address")

    assert url == "https://a.example/${MARKET_MY_SHOP_TEAM}/mcp"
    assert [need.name for need in inputs.needs] == ["team"]


def test_what_is_missing_is_told_once() -> None:
    inputs = Inputs("my-shop")
    inputs.value(BEARER, name="Authorization", place="header")
    inputs.value(BEARER, name="X-Again", place="header")

    assert inputs.needs == (
        RequiredValue(
            name="token",
            place="header",
            variable="MARKET_MY_SHOP_TOKEN",
            description="Yours.",
            is_secret=True,
        ),
    )


def test_what_may_be_chosen_is_told() -> None:
    inputs = Inputs("shop")
    said = {"isRequired": True, "description": "Where.", "choices": ["eu", 7, "us"]}

    inputs.value(said, name="REGION", place="variable")

    assert inputs.needs[0].description == "Where. One of: eu, us"


@pytest.mark.parametrize(
    "said",
    [
        pytest.param({"value": "${HOME}"}, id="a variable"),
        pytest.param({"default": "x${AWS_SECRET_ACCESS_KEY:-}"}, id="by default"),
        pytest.param(
            {"value": "{a}{HOME}", "variables": {"a": {"default": "$"}}}, id="put together"
        ),
        pytest.param(
            {"value": "{a}{b}", "variables": {"a": {"value": "$"}, "b": {"value": "{X}"}}},
            id="put together of two",
        ),
        pytest.param({"value": "${x}{HOME}", "variables": {"x": {}}}, id="with nothing between"),
        pytest.param({"value": "a\x00MARKET_X\x00"}, id="our own mark"),
        pytest.param({"value": "a\nb"}, id="a line break"),
        pytest.param({"value": "x" * 3000}, id="long"),
        pytest.param({"value": ["x"]}, id="a list"),
    ],
)
def test_no_value_reads_a_variable_or_hides_something(said: Any) -> None:
    with pytest.raises(UnusableEntry):
        Inputs("shop").value(said, name="KEY", place="argument")


def test_no_entry_gets_a_variable_by_asking_for_its_name() -> None:
    inputs = Inputs("aws")

    value = inputs.value({"isRequired": True}, name="SECRET_ACCESS_KEY", place="variable")

    assert value == "${MARKET_AWS_SECRET_ACCESS_KEY}"


def test_nobody_is_asked_for_a_hundred_things() -> None:
    inputs = Inputs("shop")

    for number in range(40):
        inputs.value({"isRequired": True}, name=f"A{number}", place="variable")

    with pytest.raises(UnusableEntry, match="requires more than 40"):
        inputs.value({"isRequired": True}, name="A40", place="variable")
