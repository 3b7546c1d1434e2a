"""Wrong graphs, and everything that is wrong with each."""

from typing import Any

from tests.graphs.boards import INNER, PARAMS, WHOLE, any_, closed, fetch
from tests.graphs.made import after

from pegboard.core.graph import Edge, Fallback, ForEach, Node, Repeat, Wait
from pegboard.core.tool import Retry

# Each: the nodes, more of the graph, and every complaint with its place, | between two.
# A note begins with ~.
TABLE: dict[str, tuple[tuple[Node, ...], dict[str, Any], str]] = {
    "nothing wrong": (
        (fetch(), any_("b", "fetch", input={"x": "$.steps.fetch.output.words"})),
        {},
        "",
    ),
    "texts that cannot be filled": (
        (
            fetch(input={"url": "http://{{ name }}/{{ params.nothing }}"}),
            any_("b", input={"x": ["{{ steps.web.output", "{{ '{{' }}", "{{ item }}"]}),
            Node(
                id="c",
                kind="wait",
                wait=Wait(question="{{ steps.b.output }}, {{ steps.nobody.output }}?"),
            ),
        ),
        {"output": "{{ steps.fetch.output.nothing }}", "params": PARAMS},
        (
            "nodes[0].input.url path_malformed | nodes[0].input.url param_unknown"
            " | nodes[1].input.x[0] path_malformed | nodes[1].input.x[2] item_outside"
            " | nodes[2].wait.question step_not_before | nodes[2].wait.question step_unknown"
            " | output path_dangling"
        ),
    ),
    "texts that a schema knows of": (
        (
            fetch(input={"url": "http://{{ params.url }}"}),
            any_("b", input={"x": 1}, for_each=ForEach(items="{{ params.url }}")),
        ),
        {"params": PARAMS},
        "nodes[1].for_each.items for_each_not_a_list",
    ),
    "no nodes": ((), {}, "nodes graph_empty"),
    "ids twice and illegal": (
        (any_("a"), any_("a"), any_("a.b")),
        {},
        "nodes[0].id id_twice | nodes[1].id id_twice | nodes[2].id id_illegal",
    ),
    "an unknown kind": ((Node(id="a", kind="loop"),), {}, "nodes[0].kind kind_unknown"),
    "an unknown tool": ((any_(tool="web__fetsh"),), {}, "nodes[0].tool tool_unknown"),
    "no tool": ((Node(id="a"),), {}, "nodes[0].tool tool_missing"),
    "a version that there is not": (
        (fetch(tool="web__fetch@1.3"), fetch("b", tool="web__fetch@1.2"), any_(tool="no__tool@1")),
        {},
        "nodes[0].tool version_unknown | nodes[2].tool tool_unknown",
    ),
    "a cycle": (
        (any_("a", "c"), any_("b", "a"), any_("c", "b")),
        {},
        "nodes[0].edges cycle",
    ),
    "a cycle, and all else": (
        (
            fetch("a", "b", input={"link": "$.steps.b.output.nothing"}),
            fetch("b", "a", tool="web__fetsh", when="steps.d.state == 'failed'"),
            fetch("c", "b", input={"url": "$.steps.a.output.nothing"}),
            fetch("d", input={"url": "$.steps.nobody.output"}),
        ),
        {"output": "$.steps.c.output.nothing"},
        (
            "nodes[0].edges cycle"
            " | nodes[0].input.url input_missing | nodes[0].input.link input_unknown"
            " | nodes[1].when step_not_before | nodes[1].tool tool_unknown"
            " | nodes[2].input.url path_dangling | nodes[3].input.url step_unknown"
            " | output path_dangling"
        ),
    ),
    "ids twice, and all else": (
        (
            fetch("a", input={"uri": "u"}),
            fetch("a", tool="web__fetsh"),
            fetch("b", input={"url": "$.steps.a.output.nothing"}),
            fetch("c.d", "b", input={"url": "$.steps.b.output.nothing"}),
            any_("e", input={"x": "$.steps.b.output", "y": "$.steps.a.outcome"}),
        ),
        {},
        (
            "nodes[0].id id_twice | nodes[1].id id_twice | nodes[3].id id_illegal"
            " | nodes[0].input.url input_missing | nodes[0].input.uri input_unknown"
            " | nodes[1].tool tool_unknown | nodes[3].input.url path_dangling"
            " | nodes[4].input.x step_not_before | nodes[4].input.y path_dangling"
        ),
    ),
    "a node that waits for itself": ((any_("a", "a"),), {}, "nodes[0].edges cycle"),
    "an edge to nothing": (
        (any_("a", "b"), any_("c", edges=(Edge(node="a", outcome="done"),), join="one")),  # type: ignore[arg-type]  # wrong on purpose
        {},
        (
            "nodes[0].edges[0].node edge_to_nothing | nodes[1].join join_unknown | "
            "nodes[1].edges[0].outcome outcome_unknown"
        ),
    ),
    "an unknown step": (
        (any_("a", input={"x": "$.steps.b.output", "y": ["$.steps[4].output"]}),),
        {},
        "nodes[0].input.x step_unknown | nodes[0].input.y[0] step_unknown",
    ),
    "a step that does not come before": (
        (
            any_("a"),
            any_("b", input={"x": "$.steps.a.output"}),
            any_("c", "b", input={"x": "$.steps.c.output"}),
        ),
        {},
        "nodes[1].input.x step_not_before | nodes[2].input.x step_not_before",
    ),
    "an output that the schema does not have": (
        (
            fetch(),
            any_(
                "a",
                "fetch",
                input={"x": "$.steps.fetch.output.contents", "y": "$.steps[0].output.words.x"},
            ),
            any_(
                "b",
                "fetch",
                input={"x": "$.steps.fetch.output.links.first", "y": "$.steps.fetch.content"},
            ),
            any_(
                "c",
                "fetch",
                input={"x": "$.steps.fetch.output.meta.anything", "y": "$.steps.fetch"},
            ),
            any_(
                "d", "fetch", input={"x": "$.steps.fetch.error.code", "y": "$.steps.fetch.state.x"}
            ),
        ),
        {},
        (
            "nodes[1].input.x path_dangling | nodes[1].input.y path_dangling | "
            "nodes[2].input.x path_dangling | nodes[2].input.y path_dangling | "
            "nodes[4].input.y path_dangling"
        ),
    ),
    "a text that is meant as a path and is none": (
        (any_(input={"x": "$.50", "y": "$$.50"}),),
        {},
        "nodes[0].input.x path_malformed",
    ),
    "unknown params": (
        (
            any_(
                input={"x": "$.params.uri", "y": "$.params.deep.y", "z": "$.params.url"},
                when="params.m > 1",
            ),
        ),
        {"params": PARAMS},
        (
            "nodes[0].input.x param_unknown | nodes[0].input.y param_unknown | "
            "nodes[0].when param_unknown"
        ),
    ),
    "an environment that graphs may not read": (
        (any_(input={"x": "$.env.PASSWORD", "y": "$.env.STAGE"}),),
        {},
        "nodes[0].input.x env_unknown",
    ),
    "items outside": (
        (
            any_("a", input={"x": "$.item.y", "y": "$.index", "z": "$.output"}),
            any_("b", for_each=ForEach(items=[1]), when="item == 1", input={"x": "$.item"}),
            any_(
                "c", repeat=Repeat(until="output.x == 1"), input={"x": "$.index", "y": "$.output"}
            ),
        ),
        {},
        (
            "nodes[0].input.x item_outside | nodes[0].input.y item_outside | "
            "nodes[0].input.z item_outside | nodes[1].when item_outside"
        ),
    ),
    "missing and unknown inputs": (
        (Node(id="a", tool="text__sum", input={"test": "x"}),),
        {},
        "nodes[0].input.text input_missing | nodes[0].input.test input_unknown",
    ),
    "literals that break the schema": (
        (
            Node(id="a", tool="text__sum", input={"text": ["x"], "most": 0}),
            Node(id="b", tool="text__count", input={"n": "5", "tags": ["a", 1]}),
        ),
        {},
        (
            "nodes[0].input.text input_invalid | nodes[0].input.most input_invalid | "
            "nodes[1].input.tags[1] input_invalid"
        ),
    ),
    "an output that cannot feed an input": (
        (
            fetch(),
            Node(
                id="a",
                tool="text__sum",
                edges=after("fetch"),
                input={"text": "$.steps.fetch.output.links"},
            ),
            Node(
                id="b",
                tool="text__sum",
                edges=after("fetch"),
                input={"text": "$.steps.fetch.output.words"},
            ),
            Node(
                id="c",
                tool="text__count",
                edges=after("fetch"),
                input={"n": "$.steps.fetch.output.links"},
            ),
            Node(
                id="d",
                tool="text__count",
                edges=after("fetch"),
                input={"n": 1, "tags": ["$.steps.fetch.output.words"]},
            ),
            Node(
                id="e",
                tool="text__count",
                edges=after("fetch"),
                input={"n": "$.steps.fetch.output.words", "tags": ["$.steps.fetch.output.content"]},
            ),
            Node(
                id="f",
                tool="text__sum",
                edges=after("fetch"),
                input={"text": "$.index"},
                repeat=Repeat(until="true"),
            ),
        ),
        {},
        (
            "nodes[1].input.text input_mismatch | nodes[2].input.text input_mismatch | "
            "nodes[3].input.n input_mismatch | nodes[4].input.tags input_mismatch | "
            "nodes[6].input.text input_mismatch"
        ),
    ),
    "an output that may not fit": (
        (
            fetch(),
            Node(
                id="a",
                tool="text__count",
                edges=after("fetch"),
                input={"n": "$.steps.fetch.output.content"},
            ),
            Node(
                id="b",
                tool="text__sum",
                edges=after("fetch"),
                input={"text": "t", "most": "$.steps.fetch.output.words"},
            ),
        ),
        {},
        "~nodes[1].input.n input_doubtful | ~nodes[2].input.most input_doubtful",
    ),
    "conditions": (
        (
            fetch(),
            any_("a", "fetch", when="1 +"),
            any_("b", "fetch", when="1 + 1"),
            any_("c", "fetch", when="steps.fetch.output.content"),
            any_("d", "fetch", when="steps.fetch.output.ok && steps.nope.output == 1"),
            any_("e", edges=(Edge(node="fetch", when="steps.fetch.output.word > 1"),)),
            any_("f", "fetch", when="has(steps.fetch.output.word) && steps.fetch.output.ok"),
            any_("g", "fetch", when="has(steps.nope.output)"),
            any_("h", when="steps.fetch.output.ok"),
        ),
        {},
        (
            "nodes[1].when condition_invalid | nodes[2].when condition_not_boolean | "
            "nodes[3].when condition_not_boolean | nodes[4].when step_unknown | "
            "nodes[5].edges[0].when path_dangling | nodes[7].when step_unknown | "
            "nodes[8].when step_not_before"
        ),
    ),
    "steps that this caller may not run": (
        (
            any_("a", tool="denied__tool", input={}),
            any_("c", tool="shop__pay"),
        ),
        {},
        "nodes[0].tool access_denied | ~nodes[1].tool approval_needed",
    ),
    "tools that are not there now": (
        (
            any_("a", tool="off__tool"),
            any_("b", tool="gone__tool"),
            any_("c", tool="old__tool"),
            any_("d", tool="off__tool", fallbacks=(Fallback(tool="any__thing"),)),
            any_("e", tool="off__tool", fallbacks=(Fallback(tool="gone__tool"),)),
        ),
        {},
        (
            "nodes[0].tool tool_unavailable | nodes[1].tool tool_unavailable | "
            "~nodes[2].tool tool_deprecated | ~nodes[3].tool tool_unavailable | "
            "nodes[4].tool tool_unavailable | nodes[4].fallbacks[0].tool tool_unavailable"
        ),
    ),
    "fallbacks": (
        (
            fetch("a", fallbacks=(Fallback(tool="no__tool"), Fallback(tool="text__sum"))),
            fetch(
                "b",
                fallbacks=(
                    Fallback(tool="text__sum", input={"text": "$.params.nope", "most": "x"}),
                ),
            ),
            Node(id="c", kind="value", fallbacks=(Fallback(tool="any__thing"),)),
        ),
        {"params": PARAMS},
        (
            "nodes[2].fallbacks field_unused | nodes[0].fallbacks[0].tool tool_unknown | "
            "nodes[0].input.text input_missing | nodes[0].input.url input_unknown | "
            "nodes[1].fallbacks[0].input.text param_unknown | "
            "nodes[1].fallbacks[0].input.most input_invalid"
        ),
    ),
    "for_each over what is no list": (
        (
            fetch(),
            any_("a", "fetch", for_each=ForEach(items="$.steps.fetch.output.words")),
            any_("b", for_each=ForEach(items={"a": 1})),
            any_(
                "c",
                "fetch",
                for_each=ForEach(items="$.steps.fetch.output.links"),
                input={"x": "$.item"},
            ),
            any_("d", for_each=ForEach(items="$.item", concurrency=0, on_failure="stop")),  # type: ignore[arg-type]  # wrong on purpose
        ),
        {},
        (
            "nodes[4].for_each.concurrency number_out_of_range | "
            "nodes[4].for_each.on_failure on_failure_unknown | "
            "nodes[1].for_each.items for_each_not_a_list | "
            "nodes[2].for_each.items for_each_not_a_list | nodes[4].for_each.items item_outside"
        ),
    ),
    "items of the wrong type": (
        (
            fetch(),
            Node(
                id="a",
                tool="text__count",
                edges=after("fetch"),
                for_each=ForEach(items="$.steps.fetch.output.links"),
                input={"n": "$.item"},
            ),
            Node(
                id="b", tool="text__sum", for_each=ForEach(items=[1, 2]), input={"text": "$.item"}
            ),
            Node(id="c", tool="text__sum", edges=after("a"), input={"text": "$.steps.a.output"}),
        ),
        {},
        (
            "~nodes[1].input.n input_doubtful | nodes[2].input.text input_mismatch | "
            "nodes[3].input.text input_mismatch"
        ),
    ),
    "rounds without an end": (
        (
            any_("a", repeat=Repeat(until="", most=0)),
            any_("b", repeat=Repeat(until="output ==", most=10**6)),
        ),
        {},
        (
            "nodes[0].repeat.until repeat_unbounded | nodes[0].repeat.most repeat_unbounded | "
            "nodes[1].repeat.most repeat_unbounded | nodes[1].repeat.until condition_invalid"
        ),
    ),
    "waits": (
        (
            Node(id="a", kind="wait"),
            Node(id="b", kind="wait", wait=Wait(seconds="$.params.nope")),
            Node(id="c", kind="wait", wait=Wait(question="?", schema={"type": "whole"})),
            Node(id="d", kind="wait", wait=Wait(question="?", schema=closed(x=WHOLE))),
            any_("e", "d", input={"x": "$.steps.d.output.y"}),
        ),
        {"params": PARAMS},
        (
            "nodes[0].wait wait_for_nothing | nodes[2].wait.schema schema_broken | "
            "nodes[1].wait.seconds param_unknown | nodes[4].input.x path_dangling"
        ),
    ),
    "graphs within": (
        (
            Node(id="a", kind="graph"),
            Node(id="b", kind="graph", graph=INNER),
            Node(id="c", kind="graph", graph=INNER, input={"q": "x"}),
            Node(
                id="d",
                kind="graph",
                input={"q": 5},
                graph=INNER.replace(nodes=(any_("x", "y"), any_("z", tool="no__tool"))),
            ),
        ),
        {},
        (
            "nodes[0].graph graph_missing | nodes[1].input.q input_missing | "
            "nodes[3].input.q input_invalid | "
            "nodes[3].graph.nodes[0].edges[0].node edge_to_nothing | "
            "nodes[3].graph.nodes[1].tool tool_unknown"
        ),
    ),
    "nodes that can never run": (
        (
            any_("a"),
            any_("b", edges=after("a", outcome="failed")),
            any_("c", "a"),
            any_("d", "b", "c"),
            any_("e", "b", "c", join="any"),
            any_("f", edges=(*after("a"), *after("a", outcome="failed"))),
        ),
        {},
        "nodes[5].edges unreachable | nodes[3].edges unreachable",
    ),
    "what a failure means": (
        (
            any_("a", on_failure="stop"),
            any_("b", on_failure="continue"),
            any_("c", edges=after("b", outcome="failed")),
        ),
        {},
        "nodes[0].on_failure on_failure_unknown | ~nodes[1].on_failure on_failure_twice",
    ),
    "numbers": (
        (any_("a", timeout=0, retry=Retry(max_retries=-1)),),
        {"concurrency": 0, "timeout": -1},
        (
            "concurrency number_out_of_range | timeout number_out_of_range | "
            "nodes[0].timeout number_out_of_range | "
            "nodes[0].retry.max_retries number_out_of_range"
        ),
    ),
    "fields that the kind does not use": (
        (
            Node(id="a", kind="value", tool="any__thing", config={"x": 1}),
            Node(id="b", kind="wait", wait=Wait(seconds=1), retry=Retry()),
        ),
        {},
        "nodes[0].tool field_unused | nodes[0].config field_unused | nodes[1].retry field_unused",
    ),
    "the output of the graph": (
        (fetch(),),
        {
            "output": {
                "x": "$.steps.fetch.output.nope",
                "y": ["$.item"],
                "z": "$.steps.fetch.output.words",
            }
        },
        "output.x path_dangling | output.y[0] item_outside",
    ),
    "params with a broken schema": (
        (any_(input={"x": "$.params.anything"}),),
        {"params": {"type": "nonsense"}},
        "params schema_broken | nodes[0].input.x param_unknown",
    ),
    "values pass on what they know": (
        (
            fetch(),
            Node(
                id="v",
                kind="value",
                edges=after("fetch"),
                input={"n": "$.steps.fetch.output.words", "c": 1},
            ),
            any_("a", "v", input={"x": "$.steps.v.output.m"}),
            Node(id="b", tool="text__sum", edges=after("v"), input={"text": "$.steps.v.output.n"}),
            Node(
                id="g",
                kind="graph",
                graph=INNER.replace(output={"z": "$.steps.a.output"}),
                input={"q": "x"},
            ),
            any_("c", "g", input={"x": "$.steps.g.output.y", "y": "$.steps.g.output.z.any"}),
        ),
        {},
        (
            "nodes[2].input.x path_dangling | nodes[3].input.text input_mismatch | "
            "nodes[5].input.x path_dangling"
        ),
    ),
}
