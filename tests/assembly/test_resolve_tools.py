"""The steps of assembly, their order, and what each mode reaches."""

import logging
from typing import Any

import pytest
from tests.assembly.made import deny, names_of
from tests.assembly.systems import (
    CRM,
    TABLES,
    disclose,
    of_source,
    reached,
    resolve,
    systems,
)
from tests.registry.made import a_tool
from tests.storage.test_resources import a_resource

from pegboard import Policy, ToolRegistry
from pegboard.access.visibility import ResourceIndex, VisibilityDecision
from pegboard.assembly import (
    STEPS,
    AssemblyStep,
    ModelToolList,
    SelectionLimits,
    ToolModes,
    ToolRequest,
    ToolSelector,
    run_steps,
)
from pegboard.assembly.categories import filter_categories
from pegboard.assembly.connectors import add_connectors
from pegboard.assembly.discover import discover
from pegboard.assembly.knowledge import add_knowledge
from pegboard.assembly.mcp_servers import add_mcp_servers
from pegboard.assembly.skills_and_delegation import add_skills_and_delegation
from pegboard.core.principal import LOCAL, Principal
from pegboard.execution import CallEnvironment
from pegboard.execution.emitter import Emitter
from pegboard.registry.toolset import Toolset

OWN = {"clock", "calculator", "web_search"}
APIS = {*(f"crm__{action}" for action in CRM), "billing__send_invoice"}
DATABASES = {f"{name}__{action}" for name in ("shop", "stock") for action in TABLES}
MCP = {"files__read_file"}
ALL = OWN | APIS | DATABASES | MCP
BOB = Principal(id="bob", user="bob", roles=frozenset({"acme/editor"}))
BASE = ["find_tools", "call_tool"]


def test_the_order_of_the_steps() -> None:
    assert [(step.name, step.wrap) for step in STEPS] == [
        ("discover", discover),
        ("categories", filter_categories),
        ("knowledge", add_knowledge),
        ("connectors", add_connectors),
        ("mcp", add_mcp_servers),
        ("skills and delegation", add_skills_and_delegation),
    ]


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({}, ALL),
        ({"categories": ("web",), "connector_ids": ("crm",)}, ALL),
        ({"agent": "a"}, OWN | MCP),
        ({"agent": "a", "categories": ("web", "time")}, {"web_search", "clock"} | MCP),
        ({"agent": "a", "connector_ids": ("crm", "shop")}, ALL - {
            "billing__send_invoice", *(f"stock__{action}" for action in TABLES)
        }),
        ({"agent": "a", "connector_ids": ("*",)}, ALL),
        (
            {"agent": "a", "tools": frozenset({"clock", "crm__find_customer"}),
             "categories": ("web",)},
            {"clock", "crm__find_customer"},
        ),
    ],
    ids=["auto", "auto restricts nothing", "agent", "categories", "bound", "all bound", "list"],
)  # fmt: skip
def test_what_each_mode_reaches(request_: Any, expected: set[str]) -> None:
    assert reached(resolve(systems(), **request_)) == expected


@pytest.mark.parametrize(
    ("request_", "expected"),
    [
        ({"delegates": {"writer": "Writes."}},
         ["connector", "database", "mcp", "read_skill", "call_agent"]),
        ({"agent": "a", "delegates": {"writer": "Writes."}}, ["mcp", "read_skill"]),
        ({"agent": "a", "connector_ids": ("shop",)}, ["database", "mcp", "read_skill"]),
        ({"modes": ToolModes(connector="direct", mcp="direct")}, ["database", "read_skill"]),
        ({"modes": ToolModes(skill="inline")}, ["connector", "database", "mcp"]),
        ({"agent": "a", "tools": frozenset({"clock"})}, ["read_skill"]),
    ],
    ids=["auto", "agent", "bound", "direct", "inline", "list"],
)  # fmt: skip
def test_which_meta_tools_join(request_: Any, expected: list[str]) -> None:
    toolset = disclose(systems(), **request_)

    assert names_of(toolset.model_tools) == [*expected, *BASE]


def test_a_small_board_is_listed_whole_without_meta_tools_of_systems() -> None:
    registry = systems().only("clock", *APIS, *MCP)

    toolset = disclose(registry, list_all=12)

    assert names_of(toolset.model_tools) == ["clock", *_in_order(registry)[1:], *BASE]


def _in_order(registry: Any) -> list[str]:
    return [tool.spec.name for tool in registry]


def test_what_the_caller_may_not_see_is_neither_reached_nor_named() -> None:
    registry = systems(policy=deny("crm__*", "shop__*", "files__*", "skills__*"))

    toolset = disclose(registry)

    text = str(toolset.model_tools)
    assert names_of(toolset.model_tools) == ["connector", "database", *BASE]
    assert "billing" in text
    assert "crm" not in text
    assert "shop" not in text


def test_skills_are_no_inner_tools_unless_they_are_direct() -> None:
    registry = systems()
    found = resolve(registry).search("refunds", limit=20, principal=LOCAL)
    direct = resolve(registry, modes=ToolModes(skill="direct"))

    assert "skills__refunds" not in names_of(found)
    assert "skills__refunds" in names_of(direct.search("refunds", limit=3, principal=LOCAL))
    assert "read_skill" not in names_of(direct.meta_tools)


def test_a_step_that_fails_is_reported_and_grants_nothing(
    caplog: pytest.LogCaptureFixture,
) -> None:
    def fail(_toolset: Toolset, _request: ToolRequest) -> Toolset:
        raise RuntimeError("no names")

    steps = tuple(
        AssemblyStep(name=step.name, wrap=fail, families=step.families)
        if "conn" in step.name
        else step
        for step in STEPS
    )
    with caplog.at_level(logging.WARNING, "pegboard.assembly"):
        toolset = run_steps(
            Toolset(registry=systems(), listed=()), ToolRequest(principal=LOCAL), steps
        )

    assert reached(toolset) == OWN | MCP
    assert toolset.missing == {"connectors": "this step of assembly failed, and the log says why"}
    assert "the step 'connectors' failed" in caplog.text


def test_a_connector_that_is_not_there_is_missing_by_name() -> None:
    toolset = resolve(systems(), agent="a", connector_ids=("crm", "erp", "x*"))

    assert list(toolset.missing) == ["erp"]


def a_list(registry: Any, kept: ModelToolList | None = None) -> ModelToolList:
    """The list of a conversation, which goes on with an earlier one."""
    limits = SelectionLimits(list_all=0, select=0)
    toolset = resolve(registry)
    selector = ToolSelector(toolset, principal=LOCAL, limits=limits, kept=kept, goes_on=True)
    return selector.select("hello")


def test_a_new_source_is_described_by_a_note_and_a_withdrawn_one_makes_the_list_anew() -> None:
    registry = systems()
    first = a_list(registry)
    registry.add(of_source("erp", "book", "openapi", "Book it."))
    second = a_list(registry, first)
    third = a_list(registry, second)
    registry.remove("billing__send_invoice")
    fourth = a_list(registry, third)

    assert (second.tools, third.tools) == (first.tools, first.tools)
    assert second.note == "(New, to be reached by:)\n- connector: erp: book"
    assert third.note == ""
    assert fourth.tools != first.tools
    assert "billing" not in str(fourth.tools)
    assert "erp" in str(fourth.tools)


def of_people() -> tuple[ToolRegistry, list[str]]:
    """The systems, and an API each of Bob and of Eve; with the sources that are judged."""
    judged: list[str] = []

    class Index(ResourceIndex):
        def resolve_source(self, principal: Principal, source: str) -> VisibilityDecision | None:
            judged.append(source)
            return super().resolve_source(principal, source)

    index = Index()
    owned = [a_resource(id=name, name=f"{name}--crm", owner=name) for name in ("bob", "eve")]
    index.use(owned, [])
    environment = CallEnvironment(policy=Policy(), emitter=Emitter(()), resource_index=index)
    more = [
        of_source(f"{name}--crm", action, "openapi") for name in ("eve", "bob") for action in CRM
    ]
    return systems(*more, environment=environment), judged


def test_the_tools_of_others_are_not_judged() -> None:
    registry, judged = of_people()
    disclose(registry, "merge customers", principal=BOB)

    assert "bob--crm" in judged
    assert "eve--crm" not in judged


def test_a_connector_of_others_is_missing_as_one_that_is_not_there() -> None:
    registry, _ = of_people()
    names = ("eve--crm", "eve--erp", "bob--crm")
    toolset = resolve(registry, principal=BOB, agent="a", connector_ids=names)

    assert set(toolset.missing) == {"eve--crm", "eve--erp"}
    assert toolset.missing["eve--crm"] == toolset.missing["eve--erp"]


def test_a_tool_with_the_name_of_a_meta_tool_is_missing_with_the_reason() -> None:
    toolset = resolve(systems(a_tool("database", "My own.")))

    assert toolset.missing == {
        "database": "its name is that of a meta-tool, so models are not shown it"
    }
