"""A registry with tools of every family, and requests for them."""

from typing import Any

from tests.registry.made import a_tool

from pegboard import ToolRegistry
from pegboard.assembly import SelectionLimits, ToolRequest, ToolSelector, resolve_tools
from pegboard.core.model_messages import ToolCall
from pegboard.core.principal import LOCAL
from pegboard.core.skill import SKILLS, Skill
from pegboard.registry.toolset import Routed, Toolset
from pegboard.tools.schema_tool import SchemaTool

CRM = ("find_customer", "list_customers", "merge_customers")
TABLES = ("list_tables", "describe_table", "query")


def of_source(source: str, action: str, handler: str, description: str = "") -> SchemaTool:
    """A tool of a source."""
    return a_tool(f"{source}__{action}", description, source=source, action=action, handler=handler)


class SkillTool(SchemaTool):
    """A tool that reads a skill."""

    skill: Skill


def a_skill(name: str, text: str = "Do it well.", **known: Any) -> SkillTool:
    """A skill of the source `skills`."""
    plain = of_source("skills", name, SKILLS, f"How to do {name}.")
    made = SkillTool(spec=plain.spec, run=plain.run)
    made.skill = Skill(name=name, description=f"How to do {name}.", text=text, **known)
    return made


def systems(*more: Any, **known: Any) -> ToolRegistry:
    """Two APIs, two databases, an MCP server, a skill, and three tools of no system."""
    return ToolRegistry(
        [
            a_tool("clock", category="time"),
            a_tool("calculator", category="computation"),
            a_tool("web_search", category="web", handler="builtin", source="std"),
            *(of_source("crm", action, "openapi", f"{action} of the CRM.") for action in CRM),
            of_source("billing", "send_invoice", "openapi", "Send an invoice."),
            *(of_source("shop", action, "sql", f"{action} of the shop.") for action in TABLES),
            *(of_source("stock", action, "sql", f"{action} of the stock.") for action in TABLES),
            of_source("files", "read_file", "mcp", "Read a file."),
            a_skill("refunds"),
            *more,
        ],
        **known,
    )


def resolve(registry: ToolRegistry, **known: Any) -> Toolset:
    """What a request reaches."""
    given: dict[str, Any] = {"principal": LOCAL, **known}
    return resolve_tools(registry, ToolRequest(**given))


def disclose(registry: ToolRegistry, question: str = "", **known: Any) -> Toolset:
    """What a request lists, of a conversation: nothing but meta-tools by default."""
    limits: dict[str, Any] = {"list_all": 0, "select": 0}
    limits |= {
        name: known.pop(name) for name in ("list_all", "select", "always_listed") if name in known
    }
    selector = ToolSelector(
        resolve(registry, **known),
        principal=known.get("principal", LOCAL),
        limits=SelectionLimits(**limits),
        goes_on=True,
    )
    return selector.assemble(selector.select(question))


def route(toolset: Toolset, name: str, arguments: str) -> Routed:
    """Where a call of a meta-tool leads."""
    meta_tool = toolset.find_meta_tool(name)
    assert meta_tool is not None
    call = ToolCall(id="c1", name=name, arguments=arguments)
    return meta_tool.route(toolset, call, LOCAL)


def reached(toolset: Toolset) -> set[str]:
    """The inner tools that a request reaches."""
    return {
        tool.spec.name
        for tool in toolset.registry
        if toolset.is_inner(tool) and toolset.is_reachable(tool)
    }
