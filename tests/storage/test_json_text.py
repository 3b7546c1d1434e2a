"""Values as JSON text, whatever text is in them."""

from typing import Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.ports.run_store import RunEvent
from pegboard.errors import InvalidRequest
from pegboard.storage.json_text import copy_json, dump, load

TEXT = st.text(st.characters(), max_size=20)  # halves of surrogate pairs too
JSON: Any = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**63), 2**63) | TEXT,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXT, inner, max_size=3),
    max_leaves=10,
)


@pytest.mark.timeout(60)
@given(JSON)
def test_any_json_value_comes_back_equal(value: Any) -> None:
    assert load(dump(value), object) == value


@pytest.mark.timeout(60)
@given(st.dictionaries(TEXT, JSON, max_size=3))
def test_a_copy_is_equal_and_shares_nothing(data: dict[str, Any]) -> None:
    event = RunEvent(kind="x", at=1.5, data=data)
    copy = copy_json(event)

    assert copy == event
    assert copy.data is not event.data


@pytest.mark.parametrize("value", [object(), {"a": {1j}}], ids=["an object", "inside"])
def test_what_is_no_json_is_refused(value: object) -> None:
    with pytest.raises(InvalidRequest, match="not JSON"):
        dump(value)


def test_json_of_another_shape_is_not_taken_for_ours() -> None:
    with pytest.raises(msgspec.ValidationError):
        load("[1]", RunEvent)
