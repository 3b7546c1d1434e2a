"""Secrets are taken out wherever a result may carry them, however they are spelt there."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.result import Artifact, ImagePart, ResourcePart, TextPart, ToolResult
from pegboard.execution.results.redaction import MASK, make_redactor, redact_result
from pegboard.tools.results import wrap

SECRET = 'pa"ss/w\u00f6rd\\'


def hidden(result: ToolResult, *secrets: str) -> ToolResult:
    redact = make_redactor(secrets or (SECRET,))
    assert redact is not None
    return redact_result(result, redact)


@pytest.mark.parametrize(
    "spelt",
    [
        SECRET,
        json.dumps({"key": SECRET}),
        json.dumps({"key": SECRET}, ensure_ascii=False),
        "https://x.example/?key=pa%22ss%2Fw%C3%B6rd%5C&page=2",
    ],
    ids=["as it is", "in JSON", "in JSON with letters", "in a URL"],
)
def test_a_secret_is_found_however_it_is_spelt(spelt: str) -> None:
    result = hidden(ToolResult(content=f"before {spelt} after"))

    assert MASK in result.text
    assert "rd" not in result.text.replace("redacted", "")


def test_a_secret_within_a_longer_one_leaves_nothing_of_it() -> None:
    assert hidden(ToolResult(content="abcdefgh"), "abcd", "abcdefgh").text == MASK


@pytest.mark.parametrize(
    ("given_", "expected"),
    [
        ({"content": "is SECRET"}, {"content": "is [redacted]"}),
        ({"structured": {"a": ["SECRET"]}}, {"structured": {"a": ["[redacted]"]}}),
        ({"structured": {"SECRET": 1}}, {"structured": {"[redacted]": 1}}),
        ({"structured": {1: ("SECRET", 2)}}, {"structured": {1: ["[redacted]", 2]}}),
        ({"structured": {"a": "SECRET", "b": ...}}, {"structured": {"a": "[redacted]", "b": ...}}),
        (
            {"content": (TextPart(text="SECRET"), ImagePart(data=b"SECRET", media_type="i"))},
            {"content": (TextPart(text="[redacted]"), ImagePart(data=b"SECRET", media_type="i"))},
        ),
        (
            {"content": (ResourcePart(uri="x?k=SECRET", text="SECRET"), ResourcePart(uri="u"))},
            {
                "content": (
                    ResourcePart(uri="x?k=[redacted]", text="[redacted]"),
                    ResourcePart(uri="u"),
                )
            },
        ),
        (
            {"artifacts": (Artifact(name="SECRET.csv", media_type="text/csv", data=b"SECRET"),)},
            {
                "artifacts": (
                    Artifact(name="[redacted].csv", media_type="text/csv", data=b"[redacted]"),
                )
            },
        ),
        (
            {"artifacts": (Artifact(name="f", media_type="application/json", data=b'"SECRET"'),)},
            {
                "artifacts": (
                    Artifact(name="f", media_type="application/json", data=b'"[redacted]"'),
                )
            },
        ),
    ],
    ids=[
        "text",
        "nested",
        "key",
        "odd keys",
        "no JSON",
        "parts",
        "resource",
        "text file",
        "json file",
    ],
)
def test_a_secret_is_found_wherever_it_stands(
    given_: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert hidden(ToolResult(**given_), "SECRET") == ToolResult(**expected)


@pytest.mark.parametrize("secret", ["12345", '":"x', 'a":"', SECRET])
def test_json_is_json_still_after_its_secrets_were_taken_out(secret: str) -> None:
    result = hidden(wrap({"n": 123456, "a": "x", "key": f"is {secret}"}), secret)

    assert json.loads(result.text) == {"n": 123456, "a": "x", "key": f"is {MASK}"}
    assert result.structured == json.loads(result.text)


@pytest.mark.parametrize(
    "artifact",
    [
        Artifact(name="f", media_type="image/png", data=b"SECRET"),
        Artifact(name="f", media_type="text/plain", data=b"\xffSECRET"),
        Artifact(name="f", media_type="text/plain", handle="pegboard://results/x"),
    ],
    ids=["picture", "not text after all", "stored"],
)
def test_a_file_that_is_no_text_is_left_as_it_is(artifact: Artifact) -> None:
    result = ToolResult(artifacts=(artifact,))

    assert hidden(result, "SECRET") is result


def test_a_result_without_secrets_is_the_same_object() -> None:
    result = ToolResult(content="fine", structured={"a": [1, None, "fine"]})

    assert hidden(result) is result


@pytest.mark.parametrize("secrets", [(), ("",), ("abc",)], ids=["none", "empty", "short"])
def test_without_a_secret_worth_the_name_there_is_nothing_to_do(secrets: tuple[str, ...]) -> None:
    assert make_redactor(secrets) is None


JSON = st.recursive(
    st.none() | st.integers() | st.text(max_size=6),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=6), inner),
    max_leaves=6,
)


@given(st.text(min_size=4, max_size=12).filter(lambda text: text not in MASK), JSON)
def test_no_planted_secret_survives_in_what_is_shown(secret: str, value: Any) -> None:
    planted = {"here": [secret, f"in {secret} between"], secret: value}
    text = json.dumps(planted)

    result = hidden(ToolResult(content=text, structured=planted), secret)

    assert secret not in str(result.structured["here"]).replace(MASK, "\0")
    assert secret not in result.text.replace(MASK, "\0")
