"""A record that waits stays what it was."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.event import CallRecord, digest_of, record_to_dict
from pegboard.core.principal import Principal
from pegboard.core.record_snapshot import clean_text, freeze, text_of


def a_record(**changes: Any) -> CallRecord:
    fields: dict[str, Any] = {
        "call_id": "c1",
        "tool": "find",
        "status": "completed",
        "started_at": 1.0,
        "duration_ms": 2.0,
        "principal": Principal(id="ada", tenant="acme"),
    }
    return CallRecord(**(fields | changes))


def test_a_record_as_data_names_who_and_digests_what_but_keeps_secrets() -> None:
    record = a_record(
        arguments={"password": "s3cret"}, error_detail="stack", duration_ms=0.15160600014496595
    )

    data = record_to_dict(record)

    assert data["duration_ms"] == 0.152
    assert data["principal"] == "ada"
    assert data["tenant"] == "acme"
    assert data["arguments_digest"] == digest_of({"password": "s3cret"})
    assert "s3cret" not in repr(data)
    assert "stack" not in repr(data)


@pytest.mark.parametrize(
    "arguments",
    [{"q": ["pear"]}, '{"q": ["pear"]}', b'{"q": ["pear"]}', '{"q": ["pear"' + " " * 5000 + "]}"],
    ids=["mapping", "text", "bytes", "long text"],
)
def test_the_digest_is_that_of_the_arguments_however_they_came(arguments: Any) -> None:
    assert freeze(a_record(arguments=arguments)).to_dict()["arguments_digest"] == digest_of(
        {"q": ["pear"]}
    )


def test_what_the_caller_changes_later_changes_nothing() -> None:
    arguments = {"q": ["pear"]}
    frozen = freeze(a_record(arguments=arguments), keep_arguments=True)

    arguments["q"].append("apple")

    assert frozen.arguments == '{"q": ["pear"]}'
    assert frozen.to_dict()["arguments_digest"] == digest_of({"q": ["pear"]})


def test_large_arguments_do_not_wait_with_the_record() -> None:
    frozen = freeze(a_record(arguments="x" * 1_000_000))

    assert frozen.record.arguments is None
    assert frozen.arguments == ""


@pytest.mark.parametrize(
    "arguments",
    [{(1, 2): 3}, "[" * 50_000 + "]" * 50_000],
    ids=["keys that JSON does not have", "nested too deep"],
)
def test_arguments_without_canonical_json_have_no_digest(arguments: Any) -> None:
    assert freeze(a_record(arguments=arguments)).to_dict()["arguments_digest"] == ""


def test_arguments_that_contain_themselves_have_no_text() -> None:
    arguments: dict[str, Any] = {}
    arguments["self"] = arguments

    assert freeze(a_record(arguments=arguments), keep_arguments=True).arguments == ""


def test_no_arguments_are_no_text() -> None:
    assert text_of(None) == ""


@given(st.text(st.characters()))
def test_clean_text_can_be_encoded_and_is_otherwise_the_same(text: str) -> None:
    clean = clean_text(text)

    assert clean.encode() == text.encode("utf-8", "backslashreplace")
    assert clean_text(clean) == clean


@pytest.mark.parametrize(
    ("arguments", "text"),
    [('{"a": 1}', '{"a": 1}'), (b'{"a": 1}', '{"a": 1}'), (b"\xff", "\\xff"), (None, "")],
    ids=repr,
)
def test_arguments_that_came_as_text_stay_as_they_came(arguments: Any, text: str) -> None:
    assert text_of(arguments) == text


def test_every_text_of_a_frozen_record_can_be_kept() -> None:
    frozen = freeze(a_record(tool="caf\u00e9", error_message="half \ud800"))

    assert (frozen.to_dict()["tool"], frozen.to_dict()["error_message"]) == (
        "caf\u00e9",
        "half \\ud800",
    )
