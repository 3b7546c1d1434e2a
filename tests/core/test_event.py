"""Digests: the same arguments give the same digest, however they are written."""

import json
from types import MappingProxyType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.event import CallRecord, digest_of, record_to_dict
from pegboard.core.principal import Principal

# Integers that every JSON reader keeps; floats are written differently by different writers.
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.slow
@pytest.mark.timeout(60)
@given(arguments=st.dictionaries(st.text(), JSON))
def test_a_mapping_and_its_json_have_one_digest(arguments: dict[str, Any]) -> None:
    text = json.dumps(arguments, indent=2)

    assert digest_of(arguments) == digest_of(text) == digest_of(text.encode())


@pytest.mark.slow
@pytest.mark.timeout(60)
@given(arguments=st.dictionaries(st.text(), JSON, min_size=2))
def test_the_order_of_keys_does_not_matter(arguments: dict[str, Any]) -> None:
    assert digest_of(dict(reversed(arguments.items()))) == digest_of(arguments)


@pytest.mark.parametrize("nothing", [None, "", b"", {}, "{}"])
def test_no_arguments_are_an_empty_object(nothing: Any) -> None:
    assert digest_of(nothing) == digest_of({})


@pytest.mark.parametrize(
    "broken",
    [
        pytest.param("{nope", id="text that is not JSON"),
        pytest.param(b"\xff\xfe", id="bytes that are not UTF-8"),
        pytest.param("\ud800", id="a lone surrogate"),
        pytest.param({"a": "\ud800"}, id="a lone surrogate inside"),
        pytest.param({"a": object}, id="a value that is not JSON"),
    ],
)
def test_whatever_arrives_has_a_digest(broken: Any) -> None:
    assert len(digest_of(broken)) == 64
    assert digest_of(broken) != digest_of({})


@pytest.fixture
def record() -> CallRecord:
    return CallRecord(
        call_id="c1",
        tool="pay",
        status="failed",
        started_at=0,
        duration_ms=1,
        principal=Principal(id="ann", tenant="acme", scopes=frozenset({"orders"})),
        arguments='{"card": "4111", "amount": 2}',
        error_detail="Traceback: card 4111",
    )


def test_a_record_has_the_digest_of_its_arguments(record: CallRecord) -> None:
    assert record.arguments_digest == digest_of({"amount": 2, "card": "4111"})


def test_a_record_as_data_withholds_arguments_and_the_operators_detail(record: CallRecord) -> None:
    data = record_to_dict(record)

    assert "4111" not in json.dumps(data)
    assert (data["principal"], data["tenant"]) == ("ann", "acme")
    assert data["arguments_digest"] == record.arguments_digest


def test_a_known_digest_is_not_computed_again(record: CallRecord) -> None:
    assert record_to_dict(record, digest="known")["arguments_digest"] == "known"


@pytest.mark.parametrize(
    "arguments",
    [
        {"d": {"1": 2, "b": 3}},
        {"d": {1: 2, "b": 3}},
        MappingProxyType({"d": MappingProxyType({"b": 3, "1": 2})}),
    ],
    ids=["text keys", "keys of several types", "mappings that are no dicts"],
)
def test_the_digest_is_that_of_the_json_that_a_mapping_becomes(arguments: Any) -> None:
    assert digest_of(arguments) == digest_of('{"d": {"1": 2, "b": 3}}')
