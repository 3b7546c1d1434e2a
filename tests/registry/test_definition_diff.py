"""How definitions differ, and what that means."""

from types import MappingProxyType
from typing import Any

import pytest

from pegboard.core.tool import Effect, Limits, Retry, Status, ToolSpec
from pegboard.errors import Unavailable
from pegboard.registry.definition_diff import definition_diff
from pegboard.schemas.diff import SchemaChangeKind
from pegboard.schemas.tool_definition import definition_digest

FIELDS: dict[str, Any] = {
    "input_schema": {"type": "object"},
    "capabilities": ("search",),
    "dependencies": ("fetch_v1",),
    "scopes": ("read",),
    "tags": ("a", "b"),
}


def spec(**changes: Any) -> ToolSpec:
    return ToolSpec(name="t", **(FIELDS | changes))


OLD = spec()


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"description": "New."}, "description: changed (wording)"),
        ({"tags": ("b", "a", "c")}, "tags: changed (wording)"),
        ({"timeout": 5.0}, "timeout: added (additive)"),
        ({"retry": Retry(on=(Unavailable,))}, "retry: added (additive)"),
        ({"limits": Limits(rate=5)}, "limits: added (additive)"),
        ({"effect": Effect.READ}, "effect: changed (breaking)"),
        ({"idempotent": True}, "idempotent: added (breaking)"),
        ({"capabilities": ("search", "news")}, "capabilities.news: added (additive)"),
        ({"capabilities": ()}, "capabilities.search: removed (breaking)"),
        ({"dependencies": ("fetch_v1", "x_v1")}, "dependencies.x_v1: added (breaking)"),
        ({"dependencies": ()}, "dependencies.fetch_v1: removed (additive)"),
        ({"scopes": ("read", "admin")}, "scopes.admin: added (breaking)"),
        ({"output_schema": {}}, "output_schema: added (additive)"),
        (
            {"input_schema": {"type": "object", "required": ["a"]}},
            "input_schema.required.a: added (breaking)",
        ),
    ],
    ids=str,
)
def test_every_change_has_a_place_and_a_kind(changes: dict[str, Any], told: str) -> None:
    new = spec(**changes)

    assert str(definition_diff(OLD, new)) == told
    assert definition_digest(new) != definition_digest(OLD)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"version": "2.0.0"},
        {"status": Status.DEPRECATED},
        {"tags": ("b", "a")},
        {"input_schema": MappingProxyType({"type": "object"})},
    ],
    ids=["nothing", "a version", "a state", "the order of tags", "another kind of mapping"],
)
def test_what_is_no_difference(changes: dict[str, Any]) -> None:
    new = spec(**changes)

    assert str(definition_diff(OLD, new)) == "no change"
    assert definition_diff(OLD, new).kind is None
    assert definition_digest(new) == definition_digest(OLD)


def test_an_output_that_is_no_longer_promised_is_a_loss() -> None:
    diff = definition_diff(spec(output_schema={"type": "object"}), OLD)

    assert str(diff) == "output_schema: removed (breaking)"


def test_outputs_are_compared_the_other_way_round() -> None:
    text, either = {"type": "string"}, {"type": ["string", "null"]}
    old, new = spec(output_schema=text), spec(output_schema=either)

    assert definition_diff(old, new).kind is SchemaChangeKind.BREAKING
    assert definition_diff(new, old).kind is SchemaChangeKind.ADDITIVE


def test_the_gravest_change_gives_the_kind() -> None:
    diff = definition_diff(OLD, spec(description="New.", timeout=5.0, scopes=()))

    assert diff.kind is SchemaChangeKind.ADDITIVE
    assert [change.place for change in diff.of_kind(SchemaChangeKind.WORDING)] == ["description"]


def test_true_is_not_one() -> None:
    old, new = spec(input_schema={"const": 1}), spec(input_schema={"const": True})

    assert definition_digest(old) != definition_digest(new)
    assert definition_diff(old, new).kind is SchemaChangeKind.BREAKING
