"""The Grafana dashboard asks for nothing that a server does not tell."""

import asyncio
import json
import re
from pathlib import Path
from typing import Any

import httpx2
import pytest
from prometheus_client.parser import text_string_to_metric_families
from tests.servers.http.made import TOOLS, a_board, client_of

from pegboard import tool

DASHBOARD = Path(__file__).parents[3] / "examples" / "grafana" / "pegboard.json"

_TEXT = re.compile(r'"[^"]*"')
_GROUP = re.compile(r"\b(?:by|without)\s*\(([^)]*)\)")
_SELECTOR = re.compile(r"([a-zA-Z_:][\w:]*)\s*\{([^}]*)\}")
_LABEL = re.compile(r"(\w+)\s*[=!]~?")
_RANGE = re.compile(r"\[[^\]]*\]")
_SCRAPED = {"instance", "job"}
"""Labels that Prometheus adds."""


def asked(expression: str) -> tuple[dict[str, set[str]], set[str]]:
    """The metrics that an expression names, each with the labels that it selects by, and the
    labels that it groups by.
    """
    text = _RANGE.sub("", _TEXT.sub('""', expression))
    grouped = {label.strip() for group in _GROUP.findall(text) for label in group.split(",")}
    text = _GROUP.sub("", text)
    metrics = {name: set(_LABEL.findall(labels)) for name, labels in _SELECTOR.findall(text)}
    bare = _SELECTOR.sub("", text)
    metrics |= {name: set() for name in re.findall(r"\b[a-zA-Z_:][\w:]*\b(?!\s*\()", bare)}
    return metrics, grouped


def expressions() -> list[str]:
    """Every query of the dashboard, those of its variables too."""
    dashboard: dict[str, Any] = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    queries = [
        target["expr"] for panel in dashboard["panels"] for target in panel.get("targets", [])
    ]
    (instances,) = [
        item["query"]["query"]
        for item in dashboard["templating"]["list"]
        if item["type"] == "query"
    ]
    found = re.fullmatch(r"label_values\((\w+), instance\)", instances)
    assert found is not None
    return [*queries, found[1]]


async def told(tmp_path: Path) -> dict[str, set[str]]:
    """The samples of a live server, each with its labels, during and after calls and a run."""
    begun, told = asyncio.Event(), asyncio.Event()

    @tool(effect="read")
    async def last() -> None:
        """Take as long as it takes to ask for the samples."""
        begun.set()
        await told.wait()

    text = "sources:\n  - {kind: builtin, name: std}\n"
    board = a_board(tmp_path, tools=(*TOOLS, last), text=text)
    async with client_of(board) as client, asyncio.TaskGroup() as group:
        await _used(client)
        group.create_task(client.post("/execute", json={"name": "last"}))
        await begun.wait()
        text = (await client.get("/metrics")).text
        told.set()
    samples: dict[str, set[str]] = {}
    for family in text_string_to_metric_families(text):
        for sample in family.samples:
            samples.setdefault(sample.name, set()).update(sample.labels)
    return samples


async def _used(client: httpx2.AsyncClient) -> None:
    answers = [
        await client.post("/execute", json={"name": name, "input": {}})
        for name in ("echo", "crash", "no_such_tool")
    ]
    step = {"step_id": "a", "tool_id": "add", "input_mapping": {"a": 1}}
    started = await client.post("/runs", json={"graph": {"steps": [step]}})
    run = await client.get(f"/runs/{started.json()['run_id']}", params={"wait": 5})

    assert [answer.status_code for answer in answers] == [200, 502, 404]
    assert run.json()["state"] == "completed"


async def test_each_query_names_metrics_and_labels_that_exist(tmp_path: Path) -> None:
    samples = await told(tmp_path)
    wrong: list[str] = []
    for expression in expressions():
        metrics, grouped = asked(expression)
        wrong += [] if metrics else [f"{expression}: names nothing"]
        for name, labels in metrics.items():
            known = samples.get(name)
            if known is None or not labels | grouped <= known | _SCRAPED:
                wrong.append(f"{expression}: {name} has {known}")

    assert wrong == []


async def test_every_metric_of_ours_is_on_the_dashboard(tmp_path: Path) -> None:
    shown = {name for expression in expressions() for name in asked(expression)[0]}
    samples = await told(tmp_path)
    ours = {re.sub(r"_(bucket|sum|count|created)$", "", name) for name in samples}
    missing = [
        name
        for name in sorted(ours)
        if name.startswith("pegboard_") and not any(each.startswith(name) for each in shown)
    ]

    assert missing == []


@pytest.mark.parametrize(
    ("expression", "metrics", "grouped"),
    [
        ("up", {"up": set()}, set()),
        (
            'sum by (le, tool) (rate(a_bucket{job=~"x", tool!="by (c)"}[5m])) / b > 0',
            {"a_bucket": {"job", "tool"}, "b": set()},
            {"le", "tool"},
        ),
        ("histogram_quantile(0.5, sum(x:y))", {"x:y": set()}, set()),
    ],
)
def test_an_expression_is_taken_apart(
    expression: str, metrics: dict[str, set[str]], grouped: set[str]
) -> None:
    assert asked(expression) == (metrics, grouped)


def test_the_dashboard_can_be_imported() -> None:
    dashboard = json.loads(DASHBOARD.read_text(encoding="utf-8"))
    ids = [panel["id"] for panel in dashboard["panels"]]
    data = [
        item["name"] for item in dashboard["templating"]["list"] if item["type"] == "datasource"
    ]

    assert data == ["datasource"]
    assert len(set(ids)) == len(ids)
    assert dashboard["schemaVersion"] >= 39
