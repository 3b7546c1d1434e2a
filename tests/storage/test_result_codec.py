"""A stored outcome is the outcome."""

import datetime as dt
import inspect
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard import errors
from pegboard.core.result import (
    Artifact,
    AudioPart,
    ImagePart,
    ResourcePart,
    ResultMeta,
    TextPart,
    ToolResult,
    error_to_dict,
)
from pegboard.errors import PegboardError, Problem, ToolFailed
from pegboard.storage.result_codec import dump_result, load_result

# Also halves of surrogate pairs: broken JSON from elsewhere carries them.
TEXT = st.text(st.characters(), max_size=20)
JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXT,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXT, inner, max_size=4),
    max_leaves=10,
)
MAYBE = st.none() | TEXT
PARTS = st.one_of(
    st.builds(TextPart, TEXT),
    st.builds(ImagePart, st.binary(max_size=20), TEXT),
    st.builds(AudioPart, st.binary(max_size=20), TEXT),
    st.builds(ResourcePart, TEXT, TEXT, MAYBE, st.none() | st.binary(max_size=20)),
)
NUMBERS = st.floats(min_value=0, max_value=1e9)
RESULTS = st.builds(
    ToolResult,
    content=TEXT | st.lists(PARTS, max_size=4).map(tuple),
    structured=JSON,
    artifacts=st.lists(
        st.builds(
            Artifact,
            name=TEXT,
            media_type=TEXT,
            size=st.integers(0, 10**12),
            handle=TEXT,
            data=st.none() | st.binary(max_size=20),
        ),
        max_size=3,
    ).map(tuple),
    is_error=st.booleans(),
    meta=st.builds(
        ResultMeta,
        call_id=TEXT,
        duration_ms=NUMBERS,
        attempts=st.integers(0, 9),
        cached=st.booleans(),
        replayed=st.booleans(),
        truncated=st.booleans(),
        handle=TEXT,
        total_bytes=st.integers(0, 10**12),
        tokens=st.none() | st.integers(0, 10**9),
        cost=st.none() | NUMBERS,
        model=TEXT,
    ),
)

ERRORS: list[PegboardError] = [
    PegboardError("plain"),
    errors.ConfigError("line 3: write x"),
    errors.CallerError("mend it"),
    errors.ToolSignatureError("f(x): give x a type"),
    errors.ToolArgumentError(
        "shop__find", (Problem(path="items[2].price", message="not a number", kind="type"),)
    ),
    errors.ToolArgumentError("shop__find", ()),
    errors.ToolNotFound("fnd", ("find", "fund")),
    errors.ToolNotFound("fnd"),
    errors.DuplicateTool("find", "shop", "bank"),
    errors.SyncUse("await it"),
    errors.AccessDenied("shop__refund", "only the shop's owner may"),
    errors.ApprovalRequired("shop__refund", "refunds are asked for"),
    errors.CredentialMissing("crm__find", "you have no credential for 'crm'", link="/connect"),
    errors.IdempotencyConflict("other arguments"),
    errors.HandleNotFound("nothing there"),
    errors.InvalidRequest("malformed"),
    ToolFailed("already shipped", error_id="e1"),
    ToolFailed("already shipped"),
    errors.ToolOutputError("not what it promised", error_id="e2"),
    errors.Unavailable("later", retry_after=2.5, nothing_done=True),
    errors.ToolTimeout("too late"),
    errors.RateLimited("slower", retry_after=1.0),
    errors.BreakerOpen("left alone", retry_after=30.0),
    errors.Overloaded("full"),
    errors.HostUnavailable("away", nothing_done=True),
    errors.IdempotencyInProgress("busy", retry_after=1.0, nothing_done=True),
    errors.SourceUnavailable("pip install 'pegboard[sql]'"),
    errors.SourceUnavailable("no import", permanent=True),
]


_SAMPLES: dict[str, Any] = {
    "str": "what",
    "int": 7,
    "float": 7.5,
    "tuple[str, ...]": ("one", "two"),
    "tuple[pegboard.error_texts.Problem, ...]": (),
}


def _made(error: type[PegboardError]) -> PegboardError:
    """One of a class that needs no line of its own above, with everything that it can be given."""
    if "__init__" not in vars(error):
        return error("a sentence")
    parameters = inspect.signature(error).parameters
    given = {
        name: _SAMPLES[inspect.formatannotation(each.annotation)]
        for name, each in parameters.items()
    }
    keyword = {
        name: value
        for name, value in given.items()
        if parameters[name].kind is inspect.Parameter.KEYWORD_ONLY
    }
    return error(*(value for name, value in given.items() if name not in keyword), **keyword)


ERRORS.extend(
    _made(value)
    for value in vars(errors).values()
    if isinstance(value, type)
    and issubclass(value, PegboardError)
    and value not in {type(listed) for listed in ERRORS}
)


@given(RESULTS)
def test_any_result_comes_back_equal(result: ToolResult) -> None:
    assert load_result(dump_result(result)) == result


@pytest.mark.parametrize("error", ERRORS, ids=repr)
def test_any_error_of_ours_comes_back_as_itself(error: PegboardError) -> None:
    back = load_result(dump_result(ToolResult(is_error=True, error=error))).error

    assert back is not None
    assert type(back) is type(error)
    assert str(back) == str(error)
    assert error_to_dict(back) == error_to_dict(error)
    assert vars(back) == {key: value for key, value in vars(error).items() if value is not None}


def test_an_error_of_somebody_else_comes_back_as_a_failure() -> None:
    class Unheard(ToolFailed):
        code = "unheard_of"

    error = Unheard("no such luck", error_id="e1")
    back = load_result(dump_result(ToolResult(is_error=True, error=error))).error

    assert type(back) is ToolFailed
    assert (str(back), back.error_id) == ("no such luck", "e1")


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (dt.date(2026, 1, 2), "2026-01-02"),
        ({1: (2, 3)}, {"1": [2, 3]}),
        ({"path": complex(1, 2)}, {"path": "(1+2j)"}),
    ],
    ids=["date", "keys that are numbers", "anything"],
)
def test_a_structured_value_that_is_no_json_is_stored_as_json(value: Any, expected: Any) -> None:
    assert load_result(dump_result(ToolResult(structured=value))).structured == expected
