"""What could stand in for a tool that is gone."""

from typing import Any

import pytest

from pegboard.core.health import HEALTHY, Health, HealthStatus
from pegboard.core.tool import Effect, Status, ToolSpec
from pegboard.registry.replacements import Proposal, propose_replacements

TEXT, WHOLE = {"type": "string"}, {"type": "integer"}


def schema(*required: str, **properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def spec(name: str, **changes: Any) -> ToolSpec:
    fields: dict[str, Any] = {
        "input_schema": schema("query", query=TEXT),
        "output_schema": schema("hits", hits={"type": "array", "items": TEXT}),
        "capabilities": ("search",),
        "effect": Effect.READ,
    }
    return ToolSpec(name=name, **(fields | changes))


GONE = spec("google")


def only(*candidates: ToolSpec, **options: Any) -> list[Proposal]:
    return propose_replacements(GONE, candidates, **options)


def test_a_tool_with_the_same_capability_and_schemas_stands_in_without_a_doubt() -> None:
    bing = spec("bing")

    assert only(GONE, bing) == [
        Proposal(
            tool=bing,
            score=1.0,
            reasons=("has the capability search", "takes and gives all that this one does"),
            input_mapping={"query": "query"},
            is_certain=True,
        )
    ]


@pytest.mark.parametrize(
    "changes",
    [
        {"capabilities": ("translate",)},
        {"effect": Effect.WRITE},
        {"status": Status.FAILED},
        {"status": Status.DISABLED},
        {"unavailable": "no key"},
        {"dependencies": ("google_v1",)},
        {"input_schema": schema("query", query=WHOLE)},
        {"input_schema": schema("query", "key", query=TEXT, key=TEXT)},
        {"input_schema": schema(page=WHOLE, size=WHOLE)},
        {"output_schema": schema("hits", hits=TEXT)},
        {"output_schema": schema("count", count=WHOLE)},
    ],
    ids=lambda changes: next(iter(changes)),
)
def test_what_cannot_stand_in_is_not_proposed(changes: dict[str, Any]) -> None:
    assert only(spec("other", **changes)) == []


def test_an_unhealthy_tool_is_not_proposed_and_a_degraded_one_comes_later() -> None:
    health = {
        "down_v1": Health(status=HealthStatus.UNHEALTHY, reason="HTTP 503"),
        "slow_v1": Health(status=HealthStatus.DEGRADED, reason="is slow"),
        "silent_v1": Health(status=HealthStatus.UNKNOWN),
        "well_v1": HEALTHY,
        "poor_v1": Health(status=HealthStatus.DEGRADED),
    }
    names = ["down", "slow", "silent", "well", "poor"]

    found = only(*map(spec, names), health=lambda tool: health[tool])

    assert [item.tool.name for item in found] == ["well", "silent", "poor", "slow"]
    assert "is healthy" in found[0].reasons
    assert "is degraded: is slow" in found[3].reasons
    assert "is degraded" in found[2].reasons


def test_arguments_of_other_names_are_mapped() -> None:
    spelt = spec("spelt", input_schema=schema("Query", Query=TEXT, lang=TEXT))
    alone = spec("alone", input_schema=schema("q", q=TEXT))

    found = only(spelt, alone)

    assert {item.tool.name: item.input_mapping for item in found} == {
        "alone": {"q": "query"},
        "spelt": {"Query": "query"},
    }
    assert "takes 'query' as 'q'" in found[0].reasons
    assert not found[0].is_certain


def test_optional_arguments_that_are_lost_are_told() -> None:
    gone = spec("google", input_schema=schema("query", query=TEXT, lang=TEXT, size=WHOLE))

    proposal = propose_replacements(gone, [spec("bing")])[0]

    assert proposal.reasons[1:] == ("takes nothing like 'lang'", "takes nothing like 'size'")
    assert proposal.score < 0.7


def test_an_argument_that_callers_may_leave_out_is_a_doubt_where_it_is_needed() -> None:
    gone = spec("google", input_schema=schema(query=TEXT))

    assert propose_replacements(gone, [spec("bing")])[0].reasons[1:] == (
        "needs 'query', which callers may leave out",
    )


def test_a_narrower_argument_is_a_doubt() -> None:
    narrow = spec("bing", input_schema=schema("query", query={**TEXT, "maxLength": 9}))

    assert only(narrow)[0].reasons[1:] == ("input 'query': 'maxLength' (9) may not hold",)


def test_only_what_dependants_need_of_the_output_counts() -> None:
    count = spec("bing", output_schema=schema("count", count=WHOLE))
    needed = {"type": "object", "required": ["count"]}

    assert only(count) == []
    assert only(count, needed=needed)[0].is_certain


def test_an_output_that_is_not_promised_is_a_doubt() -> None:
    silent = spec("bing", output_schema=None)
    loose = spec("loose", output_schema={"type": "object"})

    found = only(silent, loose)

    assert [item.reasons[1] for item in found] == [
        "promises nothing of its output",
        "output: hits: is required and may be missing",
    ]
    assert propose_replacements(spec("t", output_schema=None), [silent])[0].is_certain


def test_more_shared_capabilities_come_first() -> None:
    gone = spec("google", capabilities=("search", "news"))
    both = spec("both", capabilities=("news", "search"))

    found = propose_replacements(gone, [spec("one"), both])

    assert [item.tool.name for item in found] == ["both", "one"]
    assert found[0].reasons[0] == "has the capabilities search, news"


def test_a_deprecated_tool_stands_in_for_want_of_a_better() -> None:
    old = spec("a", status=Status.DEPRECATED)

    assert [item.tool.name for item in only(old, spec("b"))] == ["b", "a"]
