"""Whether a graph can run: every fault at once, each with its place, before anything runs."""

from collections.abc import Collection, Iterator, Mapping
from dataclasses import replace
from functools import cache, partial

from msgspec import structs

from pegboard.concurrency.cooperative import Slices, run_at_once, run_cooperatively
from pegboard.core.graph import Graph, Node, is_large
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import GraphInvalid, PegboardError
from pegboard.graphs.checks.context import CheckContext, HealthOf, StandInOf
from pegboard.graphs.checks.data import condition_faults, input_faults, path_faults
from pegboard.graphs.checks.faults import Fault, step_at
from pegboard.graphs.checks.structure import structure_faults
from pegboard.graphs.checks.tools import tool_faults
from pegboard.graphs.checks.type_inference import GraphTypes
from pegboard.graphs.failover import SubstituteFinder, for_caller
from pegboard.graphs.kinds import KINDS, NodeKind
from pegboard.graphs.tool_host import ToolHost
from pegboard.schemas.compatibility import Fits, schema_fits
from pegboard.schemas.validator import compile_schema
from pegboard.tools.schema_arguments import close_schema

MAX_DEPTH = 20
_MAX_FAULTS = 100
_UNREAD = frozenset({"graph_empty", "graph_too_large"})


def check(
    graph: Graph,
    *,
    board: ToolHost,
    principal: Principal = LOCAL,
    kinds: Mapping[str, NodeKind] = KINDS,
    env: Collection[str] | None = None,
    health: HealthOf | None = None,
    stand_in: StandInOf | None = None,
    heal: SubstituteFinder | None = None,
) -> list[Fault]:
    """Check a graph: all faults and notes, in the order of the graph.

    ```python
    for fault in check(graph, board=registry):
        print(fault.place, fault.code, fault.message)
    ```

    Args:
        graph: The graph; graphs within it are checked as well.
        board: The tools that there are; a `ToolRegistry`.
        principal: The caller; `decide` is asked for each step.
        kinds: Node kinds by name.
        env: The names that `$.env` may read, or what it reads by name; None when that is not known.
        health: The health of a tool, by name; None when unknown.
        stand_in: The tool that could replace a tool, by name; None when unknown.
        heal: Finds a substitute for unavailable tools; None for none.
    """
    terms = CheckContext(
        board=board,
        principal=principal,
        kinds=kinds,
        env=env,
        health=health,
        stand_in=stand_in,
        heal=for_caller(heal, principal),
    )
    return run_at_once(check_in_slices(graph, terms))


def check_in_slices(graph: Graph, terms: CheckContext) -> Slices[list[Fault]]:
    """The same, in parts."""
    found: dict[Fault, None] = {}
    yield from _check_graph(graph, _remembering(terms), found, at="", depth=0)
    faults: list[Fault] = []
    for fault in found:
        faults.append(replace(fault, step=step_at(graph, fault.place)))
        yield None
    return faults


async def refuse_faults(graph: Graph, terms: CheckContext) -> None:
    """Raise for a graph that has faults; notes are ignored.

    Raises:
        GraphInvalid: Every fault, with its place; the first hundred.
    """
    found = await run_cooperatively(check_in_slices(graph, terms), is_large=is_large(graph))
    faults = tuple(fault.to_problem() for fault in found if not fault.is_note)
    if faults:
        raise GraphInvalid(graph.name or graph.id, faults[:_MAX_FAULTS])


def _remembering(terms: CheckContext) -> CheckContext:
    """The same context with its answers cached: many steps may have one tool."""
    health, stand_in, heal = terms.health, terms.stand_in, terms.heal
    return structs.replace(
        terms,
        health=None if health is None else cache(health),
        stand_in=None if stand_in is None else cache(stand_in),
        heal=None if heal is None else cache(heal),
    )


def _check_graph(
    graph: Graph, terms: CheckContext, found: dict[Fault, None], *, at: str, depth: int
) -> Slices[None]:
    if depth > MAX_DEPTH:
        message = f"Graphs are at most {MAX_DEPTH} deep in one another."
        found[Fault(code="graph_too_deep", place=at.rstrip("."), message=message)] = None
        return
    structure = yield partial(_structure, graph, terms.kinds, at)
    found |= dict.fromkeys(structure)
    for faults in _schema_faults(graph, at):
        found |= dict.fromkeys(faults)
        yield None
    if _UNREAD.isdisjoint(fault.code for fault in structure):
        look = yield partial(GraphTypes, graph, terms, at=at)
        for place, node in enumerate(graph):
            found |= dict.fromkeys(_node_faults(look, node, f"{at}nodes[{place}]"))
            yield None
        found |= dict.fromkeys(path_faults(look, graph.output, None, f"{at}output"))
    for place, node in enumerate(graph):
        if node.graph is not None:
            inner = f"{at}nodes[{place}].graph."
            yield from _check_graph(node.graph, terms, found, at=inner, depth=depth + 1)


def _structure(graph: Graph, kinds: Mapping[str, NodeKind], at: str) -> list[Fault]:
    return list(structure_faults(graph, kinds, at=at))


def _schema_faults(graph: Graph, at: str) -> Iterator[list[Fault]]:
    schemas = [(f"{at}params", graph.params)]
    schemas += [
        (f"{at}nodes[{place}].wait.schema", node.wait.schema)
        for place, node in enumerate(graph)
        if node.wait is not None
    ]
    for place, schema in schemas:
        try:
            compile_schema("the schema", schema)
        except PegboardError as error:
            yield [Fault(code="schema_broken", place=place, message=str(error))]
        else:
            yield []


def _node_faults(look: GraphTypes, node: Node, where: str) -> Iterator[Fault]:
    yield from path_faults(look, node.input, node, f"{where}.input")
    for place, fallback in enumerate(node.fallbacks):
        yield from path_faults(look, fallback.input, node, f"{where}.fallbacks[{place}].input")
    before = node  # no item and no round is known yet
    if node.for_each is not None or node.repeat is not None:
        before = replace(node, for_each=None, repeat=None)
    yield from condition_faults(look, node.when, before, f"{where}.when")
    for place, edge in enumerate(node.edges):
        yield from condition_faults(look, edge.when, before, f"{where}.edges[{place}].when")
    if node.repeat is not None:
        yield from condition_faults(look, node.repeat.until, node, f"{where}.repeat.until")
    if node.wait is not None:
        yield from path_faults(look, node.wait.seconds, node, f"{where}.wait.seconds")
        yield from path_faults(look, node.wait.question, node, f"{where}.wait.question")
    yield from _each_faults(look, node, where)
    yield from tool_faults(look, node, where)
    if node.graph is not None and node.graph.params:
        wanted, name = close_schema(node.graph.params), node.graph.name or node.id
        yield from input_faults(look, node.input, node, f"{where}.input", wanted=wanted, name=name)


def _each_faults(look: GraphTypes, node: Node, where: str) -> Iterator[Fault]:
    if node.for_each is None:
        return
    items, place = node.for_each.items, f"{where}.for_each.items"
    yield from path_faults(look, items, replace(node, for_each=None, repeat=None), place)
    given = look.schema_of(items, node)
    if given and schema_fits(given, {"type": "array"}).answer is Fits.NO:
        message = "for_each goes through a list, and this is none."
        yield Fault(code="for_each_not_a_list", place=place, message=message)
