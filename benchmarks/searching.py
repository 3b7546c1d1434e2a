"""What finding a tool among 10,000 costs."""

from itertools import product
from operator import attrgetter
from typing import Any

from measure import cpu_s, cpu_us
from table import number, section, table

VERBS = "create read update delete list find export import archive restore"
THINGS = """
invoice customer order ticket contract shipment payment employee document project
meeting message repository branch issue release server backup report campaign
"""
SYSTEMS = """
salesforce jira github gitlab slack zendesk stripe shopify hubspot notion asana trello sap
oracle workday zoom dropbox box gmail outlook teams twilio sendgrid mailchimp segment
datadog pagerduty splunk snowflake bigquery redshift postgres mysql mongodb redis kafka
airflow jenkins terraform vault okta auth0 netsuite quickbooks xero tableau looker miro
figma intercom
"""
QUERIES = (
    "create an invoice in stripe",
    "find the customer's open tickets",
    "github release",
    "restore a backup",
    "who is on call in pagerduty",
)


def catalogue() -> list[tuple[str, str]]:
    """10,000 names and descriptions, as an organisation with fifty systems would have them."""
    words = product(SYSTEMS.split(), VERBS.split(), THINGS.split())
    return [
        (f"{system}__{verb}_{thing}", _describe(verb, thing, system))
        for system, verb, thing in words
    ]


def _describe(verb: str, thing: str, system: str) -> str:
    return (
        f"{verb.title()} one {thing} in {system.title()}, or several by a filter; gives the id, "
        f"the state and the owner of each {thing}."
    )


async def cost_of_searching() -> str:
    """Ours, with the index built before, and FastMCP's."""
    ours, index_s = _ours()
    cases = {"Pegboard `registry.search`": ours, "FastMCP BM25 search": _fastmcp()}
    costs = await cpu_us(cases, rounds=5, batch=0.1)
    rows = [[name, number(cost / 1000 / len(QUERIES))] for name, cost in costs.items()]
    return section(
        "Searching 10,000 tools",
        table(["", "CPU per search, ms"], rows),
        f"Our index is built on the first search: {number(index_s)} s of CPU, once.",
    )


def _ours() -> tuple[Any, float]:
    from pegboard import SchemaTool, ToolRegistry, ToolSpec

    async def run(_arguments: object, _ctx: object) -> None:
        return None

    registry = ToolRegistry(
        SchemaTool(
            spec=ToolSpec(name=name, description=text, input_schema={"type": "object"}), run=run
        )
        for name, text in catalogue()
    )
    index_s = cpu_s(lambda: registry.search("anything"))

    async def search() -> None:
        for query in QUERIES:
            if not registry.search(query):
                raise AssertionError(f"nothing found for {query!r}")

    return search, index_s


def _fastmcp() -> Any:
    from fastmcp.server.transforms.search import BM25SearchTransform
    from fastmcp.tools.base import Tool

    tools = [
        Tool(name=name, description=text, parameters={"type": "object"})
        for name, text in catalogue()
    ]
    find = attrgetter("_search")(BM25SearchTransform())  # what its search tool calls

    async def search() -> None:
        for query in QUERIES:
            if not await find(tools, query):
                raise AssertionError(f"nothing found for {query!r}")

    return search
