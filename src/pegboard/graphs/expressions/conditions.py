"""Conditions of graphs: CEL over parameters, steps and the current item."""

from collections.abc import Mapping
from typing import Any

from pegboard.graphs.expressions.references import ABSENT
from pegboard.schemas.conditions import Condition, ConditionLanguage

_LANGUAGE = ConditionLanguage(
    {
        "params": "object",
        "steps": "object",
        "env": "object",
        "item": "any",
        "index": "integer",
        "output": "any",
    },
    missing=ABSENT,
)


def compile_condition(text: str) -> Condition:
    """Compile an expression, once.

    Raises:
        InvalidRequest: It does not compile; says where.
    """
    return _LANGUAGE.compile(text)


def holds(text: str, data: Mapping[str, Any]) -> bool:
    """Whether a condition is true of this data; an empty one is.

    Raises:
        InvalidRequest: It does not compile, cannot be told, or is neither true nor false.
    """
    return not text or compile_condition(text).holds(data)
