"""How a question of a tool is asked on a terminal."""

import io
from typing import Any

import pytest

from pegboard.cli.output.questions import ask_question, describe_question, read_reply
from pegboard.errors import InvalidRequest

FORM: dict[str, Any] = {
    "type": "object",
    "properties": {
        "size": {"type": "integer", "title": "Your size"},
        "colour": {"type": "string", "enum": ["red", "blue"]},
        "gift": {"type": "boolean"},
        "extras": {"type": "array", "items": {"type": "string", "enum": ["bow", "card"]}},
        "price": {"type": "number", "default": 2.5},
    },
    "required": ["size", "colour"],
}
ASKED = {"tool": "shop__order", "source": "shop", "source_kind": "mcp", "text": "Which one?"}


def ask(typed: str, monkeypatch: pytest.MonkeyPatch, **question: Any) -> Any:
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    return ask_question({**ASKED, **question})


def test_who_asks_is_named_and_control_characters_are_left_out() -> None:
    said = describe_question({**ASKED, "text": "Pegboard:\x1b[2J log in\nnow"})

    assert said.startswith("the MCP server 'shop' asks, by its tool shop__order:\n  | Pegboard:")
    assert "\x1b" not in said
    assert "\n  | now" in said


def test_each_field_is_asked_until_it_is_of_its_kind(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    action, content = ask(
        "y\nlarge\n42\ngreen\nred\nperhaps\nyes\nbow, card\n\n", monkeypatch, schema=FORM
    )

    assert (action, content) == (
        "accept",
        {"size": 42, "colour": "red", "gift": True, "extras": ["bow", "card"], "price": 2.5},
    )
    assert "Never enter a password" in capsys.readouterr().err


def test_an_optional_field_is_left_out_and_a_form_is_declined(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    optional = {"type": "object", "properties": {"gift": {"type": "boolean"}}, "required": []}

    assert ask("y\n\n", monkeypatch, schema=optional) == ("accept", {})
    assert ask("n\n", monkeypatch, schema=optional) == ("decline", None)


@pytest.mark.parametrize(("typed", "action"), [("y\n", "accept"), ("\n", "decline")])
def test_a_page_is_shown_whole_and_opened_by_the_person(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], typed: str, action: str
) -> None:
    assert ask(typed, monkeypatch, url="https://shop.example/pay?order=7") == (action, None)
    assert "page: https://shop.example/pay?order=7" in capsys.readouterr().err


@pytest.mark.parametrize(("typed", "action"), [("y\n", "accept"), ("\n", "decline")])
def test_a_consent_without_a_form_is_given_by_a_word(
    monkeypatch: pytest.MonkeyPatch, typed: str, action: str
) -> None:
    assert ask(typed, monkeypatch, schema={"type": "object", "properties": {}})[0] == action


ONE = {**ASKED, "schema": {"type": "object", "properties": {"note": {"type": "string"}}}}
NUMBER = {**ASKED, "schema": {"type": "object", "properties": {"size": {"type": "integer"}}}}


@pytest.mark.parametrize(
    ("asked", "answer", "expected"),
    [
        ({**ASKED, "schema": FORM}, '{"size": 3}', {"size": 3}),
        (NUMBER, "3", {"size": 3}),
        (ONE, "3", {"note": "3"}),
        (ONE, "by hand", {"note": "by hand"}),
        ({**ASKED, "url": "https://shop.example/pay"}, "done", None),
    ],
    ids=["object", "number", "digits as text", "text", "page"],
)
def test_an_argument_answers_a_question(
    asked: dict[str, Any], answer: str, expected: dict[str, Any] | None
) -> None:
    assert read_reply(asked, answer, decline=False) == ("accept", expected)


def test_a_question_is_declined_without_an_answer() -> None:
    assert read_reply(ONE, "", decline=True) == ("decline", None)
    with pytest.raises(InvalidRequest, match="either"):
        read_reply(ONE, "x", decline=True)


def test_an_argument_that_fits_no_form_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO())
    with pytest.raises(InvalidRequest, match="size, colour"):
        read_reply({**ASKED, "schema": FORM}, "large", decline=False)
    with pytest.raises(InvalidRequest, match="terminal"):
        read_reply(ONE, "", decline=False)
