"""Handles in arguments: found wherever they stand, filled in for their owner only."""

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.ports.call_stores import StoredResult
from pegboard.core.result import RESULT_URI
from pegboard.core.stores.memory_results import MemoryResults
from pegboard.errors import HandleNotFound, ToolArgumentError
from pegboard.execution.results.handles import (
    FORMAT,
    load_result,
    new_handle,
    page_bytes_of,
    value_of,
)
from pegboard.execution.steps.validate import fill_in_handles, handle_parameters, mentions_handle
from pegboard.testing import FakeClock

HANDLE = f"{RESULT_URI}0123456789abcdef01234567"
OWNER = "acme/ada"


def stored(body: bytes, media_type: str = "application/json", **changes: Any) -> StoredResult:
    fields: dict[str, Any] = {
        "handle": HANDLE,
        "owner": OWNER,
        "created_at": 0.0,
        "expires_at": 9e9,
    }
    return StoredResult(media_type=media_type, body=body, **(fields | changes))


@pytest.fixture
async def results() -> MemoryResults:
    store = MemoryResults()
    await store.put(stored(b'[{"n": 1}]'))
    return store


def test_handles_cannot_be_guessed_and_say_how_long_their_pages_are() -> None:
    plain, paged = new_handle(), new_handle(page_bytes=1000)

    assert plain.startswith(RESULT_URI)
    assert len(plain) == len(RESULT_URI) + 24
    assert page_bytes_of(plain) is None
    assert page_bytes_of(paged) == 1000
    assert len({new_handle() for _ in range(1000)}) == 1000


@pytest.mark.parametrize(
    "raw",
    [
        {"a": HANDLE},
        {"a": [1, {"b": (HANDLE,)}]},
        json.dumps({"a": HANDLE}),
        json.dumps({"a": HANDLE}).encode(),
        json.dumps({"a": HANDLE}).replace("/", "\\/"),
        json.dumps({"a": HANDLE}).replace("p", "\\u0070").encode(),
        json.dumps({"a": HANDLE}).replace("p", "\\u0070"),
        json.dumps({"a": HANDLE}).replace("pegboard:", "pegboard\\u003A"),
        json.dumps(json.dumps({"a": HANDLE})),
    ],
    ids=[
        "mapping",
        "nested",
        "text",
        "bytes",
        "slashes",
        "numbers in bytes",
        "p",
        "colon",
        "twice",
    ],
)
async def test_a_handle_is_found_and_filled_in_however_it_is_written(
    raw: Any, results: MemoryResults
) -> None:
    assert mentions_handle(raw)
    filled = await fill_in_handles("find", raw, results, OWNER)
    assert '[{"n": 1}]' in json.dumps(filled)
    assert RESULT_URI not in json.dumps(filled)


@pytest.mark.parametrize(
    "raw",
    [None, {}, {"a": "text", "b": [1, None]}, '{"a": 1}', b'{"a": 1}', "", 5, [HANDLE]],
    ids=repr,
)
def test_arguments_without_a_handle_are_left_alone(raw: Any) -> None:
    assert not mentions_handle(raw)


def test_arguments_that_contain_themselves_are_looked_at_by_whoever_reads_them() -> None:
    raw: dict[str, Any] = {}
    raw["self"] = raw

    assert mentions_handle(raw)


async def test_arguments_that_contain_themselves_are_refused(results: MemoryResults) -> None:
    raw: dict[str, Any] = {}
    raw["self"] = raw

    with pytest.raises(ToolArgumentError, match="not JSON"):
        await fill_in_handles("find", raw, results, OWNER)


async def test_only_whole_texts_are_handles(results: MemoryResults) -> None:
    raw = {"a": f"see {HANDLE}", "b": 7, "c": HANDLE}

    assert await fill_in_handles("find", raw, results, OWNER) == raw | {"c": [{"n": 1}]}


async def test_a_parameter_that_takes_handles_gets_the_handle(results: MemoryResults) -> None:
    filled = await fill_in_handles(
        "find", {"a": HANDLE, "b": HANDLE}, results, OWNER, kept=frozenset({"a"})
    )

    assert filled == {"a": HANDLE, "b": [{"n": 1}]}


def test_the_schema_says_which_parameters_take_handles() -> None:
    schema = {"properties": {"a": {"format": FORMAT}, "b": {"format": "date"}, "c": True}}

    assert handle_parameters(schema) == {"a"}
    assert handle_parameters({}) == frozenset()


@pytest.mark.parametrize(
    ("item", "value"),
    [
        (stored(b'{"a": [1, 2.5, null]}'), {"a": [1, 2.5, None]}),
        (stored("grüße".encode(), "text/plain"), "grüße"),
        (stored(b"\xff\x00", "image/png"), base64.b64encode(b"\xff\x00").decode()),
        (stored(b'{"not": "parsed"}', "text/plain"), '{"not": "parsed"}'),
    ],
    ids=["json", "text", "bytes", "text that looks like JSON"],
)
def test_what_a_stored_result_stands_for(item: StoredResult, value: Any) -> None:
    assert value_of(item) == value


@pytest.mark.parametrize("owner", ["acme/bob", "other/ada", "/ada", ""])
async def test_a_handle_of_somebody_else_is_not_found(owner: str, results: MemoryResults) -> None:
    with pytest.raises(HandleNotFound, match="it may have expired"):
        await fill_in_handles("find", {"a": HANDLE}, results, owner)


async def test_an_expired_handle_is_not_found(clock: FakeClock) -> None:
    store = MemoryResults(now=clock.time)
    await store.put(stored(b"1", expires_at=clock.time() + 60))

    assert (await load_result(HANDLE, store, OWNER)).body == b"1"
    clock.advance(60)
    with pytest.raises(HandleNotFound):
        await load_result(HANDLE, store, OWNER)


SPELLINGS = st.lists(st.booleans(), min_size=len(HANDLE), max_size=len(HANDLE))


@given(SPELLINGS)
def test_a_handle_is_never_overlooked_however_json_spells_it(numbered: list[bool]) -> None:
    spelt = "".join(
        f"\\u{ord(letter):04x}" if by_number else letter
        for letter, by_number in zip(HANDLE, numbered, strict=True)
    )
    text = f'{{"x": "{spelt}"}}'

    assert json.loads(text) == {"x": HANDLE}
    assert mentions_handle(text)
    assert mentions_handle(text.encode())
