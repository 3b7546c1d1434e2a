"""Pictures of graphs and runs: valid, complete, and harmless whatever things are called."""

import re
from xml.etree import ElementTree as ET

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.graphs.made import after, call

from pegboard.core.graph import Edge, ForEach, Graph, Node, NodeState, Repeat, Wait
from pegboard.core.run import NodeRun, RunResult
from pegboard.errors import InvalidRequest
from pegboard.rendering.svg.dependency_graph import dependencies
from pegboard.rendering.svg.flow_chart import chart, took
from pegboard.rendering.svg.layered import MAX_BOXES
from pegboard.rendering.svg.timeline import MOST_ROWS, timeline

SVG = "{http://www.w3.org/2000/svg}"
EVIL = "</text></svg><script>alert(1)</script> ]]> &amp; \" ' \x00\x1b\ud800\u202e\ufffe"
ALLOWED = {
    *("svg", "title", "style", "rect", "text", "g", "path", "line", "defs", "marker"),
}
GRAPH = Graph(
    name="shop",
    nodes=(
        call("fetch", "web__fetch", title="Fetch the page"),
        call("sum", edges=(Edge(node="fetch", when="steps.fetch.output.n > 1"),)),
        call("mend", edges=after("fetch", outcome="failed")),
        Node(id="wait", kind="wait", wait=Wait(question="?"), edges=after("sum", "mend", "fetch")),
        call("each", for_each=ForEach(items=[1]), when="true", repeat=Repeat(until="output > 1")),
    ),
)
RESULT = RunResult(
    run_id="r_1",
    state=NodeState.WAITING,
    started_at=100.0,
    duration_ms=2_000.0,
    nodes=(
        NodeRun(id="fetch", state=NodeState.COMPLETED, started_at=100.0, duration_ms=500.0),
        NodeRun(
            id="sum",
            state=NodeState.FAILED,
            started_at=100.5,
            duration_ms=1_000.0,
            attempts=3,
            tool="math__sum",
            error={"code": "tool_failed", "message": "No <sum>."},
            parts=(
                NodeRun(id="sum[0]", state=NodeState.UNKNOWN, started_at=101.0, duration_ms=9.0),
            ),
        ),
        NodeRun(id="mend", state=NodeState.SKIPPED, reason="'fetch' is completed"),
        NodeRun(id="wait", state=NodeState.WAITING, started_at=101.5),
    ),
)


def drawn(svg: str) -> ET.Element:
    """The picture, if it is one that does nothing."""
    root = ET.fromstring(svg)
    assert {element.tag.removeprefix(SVG) for element in root.iter()} <= ALLOWED
    for element in root.iter():
        assert not [name for name in element.attrib if name.startswith("on") or "href" in name]
    assert not re.search(r"url\((?!#)|@import", svg)
    return root


def texts(root: ET.Element) -> list[str]:
    return [element.text or "" for element in root.iter(f"{SVG}text")]


def test_a_chart_shows_every_node_and_every_edge() -> None:
    root = drawn(chart(GRAPH))

    assert {"shop", "Fetch the page", "web__fetch", "sum", "mend", "wait", "each"} <= set(
        texts(root)
    )
    assert {"steps.fetch.output.n > 1", "failed", "for each item", "when true"} <= set(texts(root))
    arrows = [path for path in root.iter(f"{SVG}path") if path.get("class", "").startswith("arrow")]
    assert len(arrows) == 5
    assert [path.get("class") for path in arrows].count("arrow failing") == 1


def test_every_arrow_leads_down_and_no_boxes_overlap() -> None:
    root = drawn(chart(GRAPH))
    boxes = [
        [float(rect.get(name, "")) for name in ("x", "y", "width", "height")]
        for rect in root.iter(f"{SVG}rect")
        if "box" in rect.get("class", "")
    ]

    for path in root.iter(f"{SVG}path"):
        if path.get("class", "").startswith("arrow"):
            heights = [float(y) for y in re.findall(r"[-\d.]+ ([-\d.]+)", path.get("d", ""))]
            assert heights == sorted(heights)
    for one in boxes:
        for two in boxes:
            apart_x = one[0] + one[2] <= two[0] or two[0] + two[2] <= one[0]
            apart_y = one[1] + one[3] <= two[1] or two[1] + two[3] <= one[1]
            assert one is two or apart_x or apart_y


def test_a_chart_of_a_run_has_the_states_and_what_went_wrong() -> None:
    root = drawn(chart(GRAPH, RESULT))
    kinds = {rect.get("class") for rect in root.iter(f"{SVG}rect")}

    assert {"box completed", "box failed", "box skipped", "box wait waiting"} <= kinds
    assert {"completed, 500 ms", "failed, 1.0 s", "waiting", "✓", "✗"} <= set(texts(root))
    assert "No <sum>." in [element.text for element in root.iter(f"{SVG}title")]
    assert texts(root)[0] == "shop: waiting"


def test_a_time_line_has_a_row_for_each_node_and_part() -> None:
    root = drawn(timeline(RESULT))
    bars = [
        (rect.get("class"), float(rect.get("x", "")), float(rect.get("width", "")))
        for rect in root.iter(f"{SVG}rect")
        if rect.get("class") not in {"paper", "stripe"}
    ]

    assert [kind for kind, _, _ in bars] == ["completed", "failed", "unknown", "waiting"]
    (_, first, half), (_, second, whole), (_, inner, _), (_, last, rest) = bars
    assert half == pytest.approx(whole / 2, abs=0.2)
    assert first + half == pytest.approx(second, abs=0.2)
    assert second < inner < second + whole
    assert last + rest == pytest.approx(first + 4 * half, abs=0.3)  # it goes on until now
    assert {"500 ms", "1.0 s, 3 attempts", "waiting", "'fetch' is completed", "sum[0]"} <= set(
        texts(root)
    )


def test_a_run_that_has_done_nothing_yet_is_drawn() -> None:
    result = RunResult(run_id="r", state=NodeState.IN_PROGRESS, started_at=5.0)

    assert texts(drawn(timeline(result)))[0] == "r: in_progress"


@pytest.mark.parametrize("seconds", [0.0, 0.0004, 0.9, 119, 7_000, 3e7], ids=str)
def test_a_time_line_fits_any_duration(seconds: float) -> None:
    node = NodeRun(id="n", state=NodeState.COMPLETED, started_at=9.0, duration_ms=seconds * 1000)
    result = RunResult(run_id="r", state=NodeState.COMPLETED, nodes=(node,), started_at=9.0)
    root = drawn(timeline(result))

    assert 2 <= len(list(root.iter(f"{SVG}line"))) <= 12
    width = float(root.get("width", ""))
    assert all(float(text.get("x", "")) < width for text in root.iter(f"{SVG}text"))


def test_no_name_is_markup() -> None:
    node = call("a", EVIL, title=EVIL, when=EVIL, edges=(Edge(node="b", when=EVIL),))
    graph = Graph(name=EVIL, nodes=(call("b", EVIL), node))
    run = NodeRun(
        id="a", state=NodeState.FAILED, reason=EVIL, started_at=1.0, error={"message": EVIL}
    )
    parted = NodeRun(id=EVIL, state=NodeState.SKIPPED, reason=EVIL, parts=(run,))
    result = RunResult(run_id=EVIL, graph=EVIL, state=NodeState.FAILED, nodes=(run, parted))
    tools = {"version": 1, "nodes": [{"id": EVIL, "is_missing": True, "name": EVIL}], "edges": []}

    for svg in (chart(graph), chart(graph, result), timeline(result), dependencies(tools)):
        root = drawn(svg)
        assert any("</svg>" in text for text in texts(root))


@settings(max_examples=40, deadline=None)
@given(st.text(max_size=60), st.text(max_size=60))
def test_whatever_is_written_is_valid_xml(title: str, message: str) -> None:
    graph = Graph(name=title, nodes=(call("a", message or "t", title=title),))
    run = NodeRun(id="a", state=NodeState.FAILED, error={"message": message}, started_at=1.0)
    result = RunResult(run_id=title, state=NodeState.FAILED, nodes=(run,))

    drawn(chart(graph, result))
    drawn(timeline(result, title=message))


def test_a_graph_with_faults_is_drawn_as_far_as_it_goes() -> None:
    graph = Graph(
        nodes=(
            call("a", edges=after("b")),
            call("b", edges=after("a", "gone")),
            call("c", edges=after("c", "b")),
            call("b"),
        )
    )

    assert {"a", "b", "c"} <= set(texts(drawn(chart(graph))))


def test_an_empty_graph_is_an_empty_picture() -> None:
    assert texts(drawn(chart(Graph(nodes=())))) == []


def test_more_than_anybody_could_see_is_refused() -> None:
    many = Graph(nodes=tuple(call(f"n{number}") for number in range(MAX_BOXES + 1)))
    with pytest.raises(InvalidRequest, match="at most 1000 are drawn"):
        chart(many)

    long = [call("n0"), *(call(f"n{n}", edges=after("n0", f"n{n - 1}")) for n in range(1, 400))]
    with pytest.raises(InvalidRequest, match="too many and too long"):
        chart(Graph(nodes=tuple(long)))

    runs = tuple(NodeRun(id=f"n{n}", state=NodeState.PENDING) for n in range(MOST_ROWS + 7))
    result = RunResult(run_id="r", state=NodeState.PENDING, nodes=runs)
    assert texts(drawn(timeline(result)))[-1] == "and 7 more"


def test_a_wide_graph_of_a_thousand_nodes_is_drawn_in_time() -> None:
    nodes = [call(f"n{n}", edges=after(f"n{n - 40}") if n >= 40 else ()) for n in range(1000)]

    assert len(texts(drawn(chart(Graph(nodes=tuple(nodes)))))) >= 2000


def test_what_needs_what_is_drawn_with_what_is_missing() -> None:
    tools = {
        "version": 3,
        "nodes": [
            {"id": "a_v1", "name": "a", "is_missing": False},
            {"id": "b", "is_missing": True},
        ],
        "edges": [{"prerequisite": "a_v1", "dependant": "b"}],
    }
    root = drawn(dependencies(tools))

    assert texts(root) == ["Version 3", "a_v1", "a", "b"]
    assert [r.get("class") for r in root.iter(f"{SVG}rect")] == ["paper", "box ", "box missing"]


@pytest.mark.parametrize(
    ("milliseconds", "said"),
    [(0, "0 ms"), (999, "999 ms"), (1_500, "1.5 s"), (300_000, "5 min"), (9_000_000, "2.5 h")],
)
def test_a_duration_is_said_as_people_do(milliseconds: float, said: str) -> None:
    assert took(milliseconds) == said
