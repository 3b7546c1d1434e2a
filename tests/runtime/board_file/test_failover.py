"""A whole board whose runs go on with a stand-in when a tool is gone."""

import dataclasses
import json
from pathlib import Path

import pytest
from pydantic import ValidationError

from pegboard.core.graph import Edge, Fallback, Graph, Node, NodeState, Wait
from pegboard.core.ports.call_stores import HistoryQuery
from pegboard.core.principal import LOCAL
from pegboard.core.tool import Effect
from pegboard.errors import ConfigError, GraphInvalid
from pegboard.graphs import write_graph
from pegboard.runtime import Pegboard, Settings
from pegboard.runtime.board_file.failover import HealingEntry

_TOOL = """
from typing_extensions import TypedDict
from pegboard import tool

class Price(TypedDict):
    euros: int

@tool(effect="read", capabilities=("price",))
def price(kg: int) -> Price:
    return {"euros": kg * %d}
"""
_PLAN = Graph(
    nodes=(Node(id="price", tool="courier__price", input={"kg": 2}),),
    output="$.steps.price.output.euros",
)


@pytest.fixture
def board_file(tmp_path: Path) -> Path:
    for name, euros in (("courier", 5), ("post", 7)):
        (tmp_path / f"{name}.py").write_text(_TOOL % euros)
    return tmp_path / "board.yaml"


def write(path: Path, *names: str, healing: str = "policy: apply") -> None:
    lines = (f"  - {{kind: functions, name: {n}, config: {{files: [{n}.py]}}}}\n" for n in names)
    path.write_text(f"sources:\n{''.join(lines)}healing: {{{healing}}}\n")


async def test_a_plan_goes_on_with_a_stand_in_and_everybody_is_told(board_file: Path) -> None:
    write(board_file, "courier", "post")
    async with Pegboard(board_file, data=board_file.parent / "data") as board:
        first = await board.runs.wait(
            (await board.runs.start_graph(_PLAN, principal=LOCAL)).id, principal=LOCAL
        )
        write(board_file, "post")
        await board.reload()
        checked = board.plans.check(write_graph(_PLAN), principal=LOCAL)
        second = await board.runs.wait(
            (await board.runs.start_graph(_PLAN, principal=LOCAL)).id, principal=LOCAL
        )
        told = [event.data async for event in board.runs.events(second.id, principal=LOCAL)]
        trail = await board.audit.records(kind="run", principal=LOCAL)

    assert (first.result.output, second.result.output) == (10, 14)
    (node,) = second.to_dict()["nodes"]
    assert (node["tool"], node["instead_of"]) == ("post__price", "courier__price")
    assert checked.is_runnable
    assert [fault.code for fault in checked.preview.faults] == ["tool_unknown"]
    assert [data["reason"] for data in told if data.get("node") == "price~2"] == [
        "'post__price' stands in for 'courier__price'"
    ]
    (healed,) = [json.loads(record.body) for record in trail]
    assert (healed["action"], healed["subject"]) == ("healed", second.id)
    assert healed["detail"]["instead_of"] == "courier__price"


async def test_by_default_it_is_only_named(board_file: Path) -> None:
    write(board_file, "courier", "post", healing="")
    async with Pegboard(board_file) as board:
        write(board_file, "post", healing="")
        await board.reload()
        with pytest.raises(GraphInvalid):
            await board.runs.start_graph(_PLAN, principal=LOCAL)
        checked = board.plans.check(write_graph(_PLAN), principal=LOCAL)

    assert "'post__price' could stand in for it." in checked.preview.faults[0].message


async def test_a_tool_that_went_is_no_fault_of_a_step_with_another(board_file: Path) -> None:
    write(board_file, "courier", "post", healing="")
    chain = Node(
        id="price",
        tool="courier__price",
        input={"kg": 2},
        fallbacks=(Fallback(tool="post__price"),),
    )
    mistaken = Graph(nodes=(dataclasses.replace(chain, tool="courier__prise"),))
    async with Pegboard(board_file) as board:
        write(board_file, "post", healing="")
        await board.reload()
        view = await board.runs.wait(
            (await board.runs.start_graph(Graph(nodes=(chain,)), principal=LOCAL)).id,
            principal=LOCAL,
        )
        checked = board.plans.check(write_graph(Graph(nodes=(chain,))), principal=LOCAL)
        with pytest.raises(GraphInvalid, match="There is no tool 'courier__prise'"):
            await board.runs.start_graph(mistaken, principal=LOCAL)

    (node,) = view.result.nodes
    assert (node.state, node.tool) == ("completed", "post__price")
    assert [(fault.code, fault.is_note) for fault in checked.preview.faults] == [
        ("tool_unknown", True)
    ]


async def test_a_changed_policy_holds_at_once(board_file: Path) -> None:
    write(board_file, "courier", "post", healing="")
    async with Pegboard(board_file) as board:
        write(board_file, "post")
        await board.reload()
        view = await board.runs.wait(
            (await board.runs.start_graph(_PLAN, principal=LOCAL)).id, principal=LOCAL
        )

    assert view.result.state is NodeState.COMPLETED


async def test_a_wrong_policy_is_named_with_its_line(board_file: Path) -> None:
    write(board_file, "post", healing="policy: always")

    with pytest.raises(
        ConfigError, match=r"board.yaml:3: healing.policy: should be 'propose' or 'apply'"
    ):
        async with Pegboard(board_file):
            pass


@pytest.mark.parametrize(
    ("healing", "state"),
    [
        ("policy: apply", NodeState.FAILED),
        ("policy: apply, even_if: [disabled]", NodeState.FAILED),
        ("policy: apply, even_if: [switched_off]", NodeState.COMPLETED),
    ],
)
async def test_what_is_switched_off_stays_undone_unless_the_file_says_otherwise(
    board_file: Path, healing: str, state: NodeState
) -> None:
    """And a plan is told to be runnable only where its run goes on."""
    write(board_file, "courier", "post", healing=healing)
    wait = Node(id="wait", kind="wait", wait=Wait(seconds=0.2))
    later = dataclasses.replace(_PLAN.nodes[0], edges=(Edge(node="wait"),))
    async with Pegboard(board_file) as board:
        run = await board.runs.start_graph(Graph(nodes=(wait, later)), principal=LOCAL)
        await board.switches.off("tool", "courier__*", reason="it charges twice", principal=LOCAL)
        checked = board.plans.check(write_graph(_PLAN), principal=LOCAL)
        view = await board.runs.wait(run.id, principal=LOCAL)

    goes_on = state is NodeState.COMPLETED
    assert view.result.state is state
    assert checked.is_runnable is goes_on
    assert [(fault.code, fault.is_note) for fault in checked.preview.faults] == [
        ("tool_unavailable", goes_on)
    ]


async def test_after_a_restart_it_is_still_known_what_a_tool_was(board_file: Path) -> None:
    write(board_file, "courier", "post")
    async with Pegboard(board_file, data=board_file.parent / "data") as board:
        proposed = board.tool_health.replacements.find("courier__price", principal=LOCAL).to_dict()[
            "proposals"
        ]
    (board_file.parent / "courier.py").write_text("raise RuntimeError('it moved')")
    async with Pegboard(board_file, data=board_file.parent / "data") as board:
        gone = board.tool_health.replacements.find("courier__price", principal=LOCAL).to_dict()
        checked = board.plans.check(write_graph(_PLAN), principal=LOCAL)
        view = await board.runs.wait(
            (await board.runs.start_graph(_PLAN, principal=LOCAL)).id, principal=LOCAL
        )

    assert gone["is_gone"]
    assert gone["proposals"] == proposed
    assert checked.is_runnable
    assert view.result.output == 14
    assert view.result.nodes[0].instead_of == "courier__price"


async def test_the_record_of_a_call_says_in_whose_place_it_was(board_file: Path) -> None:
    write(board_file, "courier", "post")
    data = board_file.parent / "data"
    async with Pegboard(settings=Settings(board=board_file, data=data, audit="reads")) as board:
        write(board_file, "post")
        await board.reload()
        view = await board.runs.wait(
            (await board.runs.start_graph(_PLAN, principal=LOCAL)).id, principal=LOCAL
        )
        page = await board.history.calls(HistoryQuery(instead_of="courier__price"))
        trail = await board.audit.records(kind="call", principal=LOCAL)

    (call,) = page.calls
    assert (call["tool"], call["run_id"]) == ("post__price", view.id)
    assert [json.loads(record.body)["instead_of"] for record in trail] == ["courier__price"]


def test_what_does_most_harm_is_never_healed() -> None:
    assert HealingEntry().to_policy().effects == {Effect.READ}
    assert not HealingEntry().to_policy().applies
    with pytest.raises(ValidationError):
        HealingEntry.model_validate({"effects": ["admin"]})
