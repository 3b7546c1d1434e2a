from typing import Any

import pytest

from pegboard.core.graph import Graph
from pegboard.errors import InvalidRequest
from pegboard.graphs.engine.graph_execution import validate_params
from pegboard.graphs.expressions.references import ABSENT

PARAMS: dict[str, Any] = {
    "type": "object",
    "properties": {"n": {"type": "integer"}, "m": {"default": 5}, "o": True},
    "required": ["n"],
}


def test_params_are_read_as_arguments_are() -> None:
    given = validate_params(Graph(nodes=(), params=PARAMS), {"n": "3"})

    assert given == {"n": 3, "m": 5, "o": ABSENT}


def test_a_graph_without_a_schema_takes_anything() -> None:
    assert validate_params(Graph(nodes=()), {"x": 1}) == {"x": 1}


@pytest.mark.parametrize(("given", "said"), [({}, "params.n"), ({"n": 1, "z": 2}, "params.z")])
def test_params_that_do_not_fit_are_refused_with_their_places(
    given: dict[str, Any], said: str
) -> None:
    with pytest.raises(InvalidRequest, match=said):
        validate_params(Graph(nodes=(), params=PARAMS, name="g"), given)
