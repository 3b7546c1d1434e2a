"""What of a question of an untrusted tool a person is shown."""

from typing import Any

import pytest

from pegboard.core.elicitation import Question
from pegboard.errors import ElicitationUnavailable
from pegboard.graphs.question_forms import MAX_MESSAGE, mask_answer, read_question
from pegboard.schemas.validator import compile_schema


def form(**properties: Any) -> dict[str, Any]:
    schema = {"type": "object", "properties": properties}
    return read_question(Question(message="?", schema=schema))["schema"]


def test_control_characters_and_marks_of_direction_are_left_out_and_lines_kept() -> None:
    shown = read_question(Question(message="a\x1b[2Jb\u202ec\nd\u200b\x00", schema={}))

    assert shown["text"] == "a [2Jb c\nd"


def test_a_long_text_is_cut() -> None:
    shown = read_question(Question(message="x" * 1_000_000, schema={}))

    assert len(shown["text"]) == MAX_MESSAGE


def test_what_forms_of_mcp_have_is_kept_and_the_rest_left_out() -> None:
    cleaned = form(
        name={
            "type": "string",
            "title": "Name\x07",
            "minLength": 1,
            "maxLength": 9,
            "pattern": "(a+)+$",
            "format": "email",
            "$ref": "https://evil.example/schema",
        },
        age={"type": "integer", "minimum": 0, "maximum": True, "default": 3},
        sure={"type": "boolean", "default": False},
        colour={"oneOf": [{"const": "r", "title": "Red"}, {"const": "b"}]},
        extras={"type": "array", "items": {"enum": ["bow", "card"]}, "maxItems": 2},
    )

    assert cleaned == {
        "type": "object",
        "properties": {
            "name": {
                "title": "Name",
                "type": "string",
                "minLength": 1,
                "maxLength": 9,
                "format": "email",
            },
            "age": {"type": "integer", "minimum": 0, "default": 3},
            "sure": {"type": "boolean", "default": False},
            "colour": {"type": "string", "enum": ["r", "b"], "enumNames": ["Red", "b"]},
            "extras": {
                "type": "array",
                "items": {"type": "string", "enum": ["bow", "card"]},
                "uniqueItems": True,
                "maxItems": 2,
            },
        },
        "required": [],
        "additionalProperties": False,
    }
    assert compile_schema("answer", cleaned).is_valid({"colour": "r", "extras": ["bow"]})


@pytest.mark.parametrize(
    "field",
    [
        {"type": "object", "properties": {}},
        {"type": "array", "items": {"type": "string"}},
        {"type": "array"},
        {"type": ["string", "null"]},
        {"type": "string", "format": "password"},
        {"type": "string", "writeOnly": True},
        {"type": "string", "enum": []},
        {"type": "string", "enum": [1, 2]},
        {"type": "string", "enum": ["same", "same"]},
        {"type": "string", "enum": ["x" * 500]},
        {"type": "string", "enum": ["\u202egnp"]},
        {"type": "string", "oneOf": "everything"},
        "string",
        None,
    ],
    ids=repr,
)
def test_a_field_that_no_form_can_show_refuses_the_question(field: Any) -> None:
    with pytest.raises(ElicitationUnavailable):
        form(field=field)


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "array"},
        {"type": "object", "properties": ["a"]},
        {"type": "object", "properties": {f"f{n}": {} for n in range(51)}},
        {"type": "object", "properties": {"__proto__ x": {}}},
        {"type": "object", "properties": {"": {}}},
        {"type": "object", "properties": {"a\u202eb": {}}},
    ],
    ids=["list", "no mapping", "many", "odd name", "no name", "turned name"],
)
def test_a_form_that_is_none_is_refused(schema: Any) -> None:
    with pytest.raises(ElicitationUnavailable):
        read_question(Question(message="?", schema=schema))


def test_numbers_that_not_each_reader_of_json_reads_alike_are_left_out() -> None:
    huge = {"minimum": float("nan"), "maximum": 10**400, "default": float("inf")}

    assert form(n={"type": "number", **huge})["properties"] == {"n": {"type": "number"}}


def test_a_form_that_is_too_large_is_refused() -> None:
    fields = {
        f"f{n}": {"type": "string", "enum": [f"{n:0150}" for n in range(9)]} for n in range(50)
    }

    with pytest.raises(ElicitationUnavailable, match="too large"):
        form(**fields)


def test_an_address_is_kept_as_it_is() -> None:
    shown = read_question(Question(message="Pay", url="https://shop.example/pay?o=7"))

    assert shown == {"text": "Pay", "url": "https://shop.example/pay?o=7"}


@pytest.mark.parametrize(
    "url",
    [
        "javascript:alert(1)",
        "data:text/html,hi",
        "file:///etc/passwd",
        "//shop.example",
        "https://bank.example@evil.example/",
        "https://bank.example\\@evil.example/",
        "https://evil.example/ \u202e",
        "https://evil.example:port/",
        "https://" + "a" * 3000,
        "https://[::1",
        "https://",
    ],
)
def test_an_address_that_deceives_refuses_the_question(url: str) -> None:
    with pytest.raises(ElicitationUnavailable):
        read_question(Question(message="Pay", url=url))


def test_the_record_of_an_answer_masks_secrets_and_cuts_long_texts() -> None:
    masked = mask_answer(
        {"user_password": "hunter2", "apiKey": "k", "pin": "1", "size": 7, "text": "x" * 9_000},
        redact=lambda text: text.replace("s3cret", "[redacted]"),
    )

    assert [masked[name] for name in ("user_password", "apiKey", "pin")] == ["[redacted]"] * 3
    assert masked["size"] == 7
    assert len(masked["text"]) == 2_000
    assert mask_answer({"note": "s3cret"}, redact=lambda t: t.replace("s3cret", "-")) == {
        "note": "-"
    }
