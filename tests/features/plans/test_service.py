"""Plans that are made, checked and kept."""

from collections.abc import AsyncIterator

import pytest

from pegboard import ToolRegistry, tool
from pegboard.core.graph import Graph
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import InvalidRequest, PlanNotFound
from pegboard.features.permissions import may_see_plan
from pegboard.features.plans import Plans
from pegboard.features.plans.schemas import PlanAnswer, PlanRequestBody
from pegboard.features.plans.service import fill_params
from pegboard.features.plans.views import show_check, show_plan
from pegboard.graphs.documents.plan_models import PLAN_ANNOTATIONS, PlanForm
from pegboard.planning import Planner, PlanRequest
from pegboard.rendering.text import mermaid
from pegboard.storage import MemoryStorage


@tool(effect="read", supported_tasks=("greet_somebody",))
def greet(name: str) -> str:
    """Greet."""
    return f"Hello {name}!"


@pytest.fixture
async def plans() -> AsyncIterator[Plans]:
    registry = ToolRegistry([greet])
    async with MemoryStorage() as storage:
        yield Plans(registry, storage.runs, planner=Planner(registry))


async def test_a_plan_remembers_what_it_was_made_with(plans: Plans) -> None:
    made = await plans.make(
        PlanRequest(goal="greet_somebody", params={"name": "Ada"}), principal=LOCAL
    )
    again = await plans.get(made.id, principal=LOCAL)

    assert again.graph == made.graph
    assert fill_params(made.graph, {}) == {"name": "Ada"}
    assert fill_params(made.graph, {"name": "Bob"}) == {"name": "Bob"}
    assert fill_params(Graph(nodes=()), {"x": 1}) == {"x": 1}
    assert show_plan(made, mermaid)["steps"][0]["tool_id"] == "greet_v1"


async def test_what_is_no_request_is_refused_with_what_to_write(plans: Plans) -> None:
    with pytest.raises(TypeError, match=r"not a dict: write PlanRequest\(goal=\.\.\.\)"):
        await plans.make({"goal": "greet"}, principal=LOCAL)  # pyright: ignore[reportArgumentType]  # as without types


async def test_a_schema_that_is_given_holds(plans: Plans) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string"}}}
    made = await plans.make(PlanRequest(goal="greet", params_schema=schema), principal=LOCAL)

    assert made.graph.params == schema


async def test_a_plan_that_there_is_not_is_not_found(plans: Plans) -> None:
    with pytest.raises(PlanNotFound):
        await plans.get("plan_of_nobody", principal=LOCAL)


async def test_a_check_keeps_nothing_and_tells_all(plans: Plans) -> None:
    well = plans.check(
        {"steps": [{"step_id": 1, "tool_id": "greet", "input_mapping": {"name": "x"}}]},
        principal=LOCAL,
    )
    wrong = plans.check({"nodes": 5}, principal=LOCAL)

    assert well.is_runnable
    assert show_check(well, mermaid)["layers"] == [["1"]]
    assert not wrong.is_runnable
    assert wrong.graph is None


def test_a_tenant_with_a_name_like_anothers_sees_nothing_of_it() -> None:
    boss = Principal(id="boss", tenant="acme", scopes=frozenset({"plans:all"}))

    assert may_see_plan(boss, "acme/ada")
    assert not may_see_plan(boss, "acme2/ada")
    assert not may_see_plan(Principal(id="bob", tenant="acme"), "acme/ada")
    assert may_see_plan(Principal(id="op", scopes=frozenset({"operator"})), "acme2/ada")


def test_a_whole_number_is_one_however_json_writes_it() -> None:
    body = PlanRequestBody.model_validate({"goal": "greet", "fallbacks": 1.0})

    assert body.to_request().fallbacks == 1


async def test_a_plan_that_is_read_again_says_why_it_looks_like_this(plans: Plans) -> None:
    made = await plans.make(PlanRequest(goal="greet_somebody"), principal=LOCAL)
    again = await plans.get(made.id, principal=LOCAL)

    assert (again.mode, again.choices, again.notes) == ("direct", made.choices, made.notes)
    assert again.choices[0].reason.partition(" is ")[2].startswith("one of its supported_tasks")
    assert again.notes[0].startswith("Step 'greet': nothing gives 'name'")
    assert show_plan(again, mermaid)["choices"] == show_plan(made, mermaid)["choices"]


async def test_params_are_remembered_beside_their_schema(plans: Plans) -> None:
    schema = {
        "type": "object",
        "properties": {"name": {"type": "string", "minLength": 2}, "more": True},
        "required": ["name"],
        "additionalProperties": True,
    }
    request = PlanRequest(goal="greet", params_schema=schema, params={"more": 1, "extra": [2]})
    made = await plans.make(request, principal=LOCAL)

    assert made.graph.params["properties"]["name"] == {"type": "string", "minLength": 2}
    assert fill_params(made.graph, {"name": "Bo"}) == {"name": "Bo", "more": 1, "extra": [2]}


async def test_params_that_do_not_fit_their_own_schema_are_refused(plans: Plans) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string", "minLength": 2}}}

    with pytest.raises(InvalidRequest, match=r"params\.name"):
        await plans.make(
            PlanRequest(goal="greet", params_schema=schema, params={"name": "A"}), principal=LOCAL
        )


async def test_a_broken_schema_is_a_fault_of_the_plan(plans: Plans) -> None:
    schema = {"type": "object", "properties": {"name": {"type": "string", "minLength": "x"}}}
    made = await plans.make(
        PlanRequest(goal="greet", params_schema=schema, params={"name": "A"}), principal=LOCAL
    )

    assert "schema_broken" in [fault.code for fault in made.preview.faults]


def test_all_that_is_told_of_a_plan_may_come_back_with_it() -> None:
    assert set(PlanAnswer.model_fields) - set(PlanForm.model_fields) == PLAN_ANNOTATIONS
