import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.computation_budget import Budget

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=10,
)


@given(value=JSON)
def test_a_value_weighs_about_what_it_is_when_written(value: Any) -> None:
    written = len(json.dumps(value, ensure_ascii=False))

    assert Budget().weigh(value) * 3 >= written / 2


@pytest.mark.timeout(60)
@given(value=JSON)
def test_what_is_shared_weighs_as_often_as_it_is_written(value: Any) -> None:
    budget = Budget()

    assert budget.weigh([value, value]) == 8 + 2 * budget.weigh(value)


def test_a_value_that_doubles_is_too_heavy_long_before_it_is_written() -> None:
    value: Any = "x"
    for _ in range(100):
        value = [value, value]

    with pytest.raises(InvalidRequest, match="too large"):
        Budget().weigh(value)


@pytest.mark.parametrize("value", [object(), {1, 2}, b"x", (1,)])
def test_what_is_no_json_is_refused(value: Any) -> None:
    with pytest.raises(InvalidRequest, match="not a JSON value"):
        Budget().weigh([value])


def test_steps_come_to_an_end() -> None:
    budget = Budget()
    budget.step(300_000)

    with pytest.raises(InvalidRequest, match="takes too long"):
        budget.step()
