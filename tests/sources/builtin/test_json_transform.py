import contextlib
import json
import time
from copy import deepcopy
from typing import Any

import jmespath
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.jmespath_queries import query
from pegboard.sources.builtin.json_patch import merge_patch
from pegboard.sources.builtin.tools.json_transform import json_transform

ORDERS = {
    "orders": [
        {"id": 1, "total": 50, "customer": {"name": "Ann"}},
        {"id": 2, "total": 150, "customer": {"name": "Bob"}},
    ],
    "a/b": {"m~n": [0, 1]},
}
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=8,
)


@pytest.mark.parametrize(
    ("expression", "expected"),
    [
        ("orders[?total > `100`].{id: id, who: customer.name}", [{"id": 2, "who": "Bob"}]),
        ("orders[].total | sum(@)", 200),
        ("join(', ', orders[*].customer.name)", "Ann, Bob"),
        ("sort_by(orders, &total)[-1].id", 2),
        ("nothing.here", None),
        ("length(orders)", 2),
        ("map(&id, orders)", [1, 2]),
        ('"a/b"."m~n"[::-1]', [1, 0]),
        ("*.length(@)", [2, 1]),
    ],
)
def test_a_query_finds_what_jmespath_finds(expression: str, expected: Any) -> None:
    assert json_transform("query", ORDERS, expression=expression) == expected
    assert jmespath.search(expression, ORDERS) == expected


@given(document=JSON, expression=st.sampled_from(["@", "[]", "*", "[*].a", "{a: @}", "[@, @]"]))
def test_bounds_do_not_change_answers(document: Any, expression: str) -> None:
    expected = jmespath.search(expression, json.loads(json.dumps(document)))

    assert json_transform("query", [document], expression=f"[0] | {expression}") == expected


@pytest.mark.parametrize(
    ("pointer", "expected"),
    [("", ORDERS), ("/orders/1/id", 2), ("/a~1b/m~0n/0", 0)],
    ids=["whole", "nested", "escaped"],
)
def test_a_pointer_leads_to_its_value(pointer: str, expected: Any) -> None:
    assert json_transform("get", ORDERS, pointer=pointer) == expected


def test_a_patch_is_applied_to_a_copy() -> None:
    document = {"a": [1], "b": {"c": 2}}

    changed = json_transform(
        "patch",
        document,
        patch=[
            {"op": "test", "path": "/a/0", "value": 1},
            {"op": "add", "path": "/a/-", "value": 9},
            {"op": "move", "from": "/b/c", "path": "/d"},
            {"op": "copy", "from": "/a", "path": "/e"},
            {"op": "remove", "path": "/b"},
            {"op": "replace", "path": "/d", "value": 3},
        ],
    )

    assert changed == {"a": [1, 9], "d": 3, "e": [1, 9]}
    assert document == {"a": [1], "b": {"c": 2}}


def test_the_whole_document_may_be_replaced() -> None:
    assert json_transform("patch", [], patch=[{"op": "replace", "path": "", "value": 1}]) == 1


@pytest.mark.parametrize(
    ("document", "changes", "expected"),
    [
        ({"a": "b"}, {"a": "c"}, {"a": "c"}),
        ({"a": "b"}, {"b": "c"}, {"a": "b", "b": "c"}),
        ({"a": "b"}, {"a": None}, {}),
        ({"a": ["b"]}, {"a": "c"}, {"a": "c"}),
        ({"a": {"b": "c"}}, {"a": {"b": "d", "c": None}}, {"a": {"b": "d"}}),
        (["a", "b"], ["c"], ["c"]),
        ({"a": "foo"}, "bar", "bar"),
        ({"e": None}, {"a": 1}, {"e": None, "a": 1}),
        ([1, 2], {"a": "b", "c": None}, {"a": "b"}),
        ({}, {"a": {"bb": {"ccc": None}}}, {"a": {"bb": {}}}),
    ],
)
def test_a_merge_patch_follows_the_examples_of_rfc_7396(document, changes, expected) -> None:
    before = deepcopy(document)

    assert (
        merge_patch(document, changes)
        == json_transform("merge", document, other=changes)
        == expected
    )
    assert document == before


@pytest.mark.slow
@given(document=JSON, other=JSON)
def test_a_diff_is_a_patch_from_one_to_the_other(document: Any, other: Any) -> None:
    patch = json_transform("diff", {"x": document}, other={"x": other})

    assert json_transform("patch", {"x": document}, patch=patch) == {"x": other}


def test_a_text_that_holds_json_is_read() -> None:
    assert json_transform("get", ' {"a": 1}', pointer="/a") == 1
    assert json_transform("query", "plain text", expression="length(@)") == 10


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        ({"operation": "query", "document": {}}, "needs 'expression'"),
        ({"operation": "get", "document": {}}, "needs 'pointer'"),
        ({"operation": "patch", "document": {}}, "needs 'patch'"),
        ({"operation": "query", "document": {}, "expression": "a["}, "JMESPath expression fails"),
        ({"operation": "query", "document": {}, "expression": ""}, "JMESPath expression fails"),
        ({"operation": "query", "document": {}, "expression": "nope(@)"}, "nope"),
        ({"operation": "query", "document": 1, "expression": "length(@)"}, "expression fails"),
        ({"operation": "query", "document": [1, "a"], "expression": "[0] < [1]"}, "fails"),
        ({"operation": "query", "document": [1], "expression": "[::0]"}, "expression fails"),
        ({"operation": "query", "document": 1, "expression": "&a"}, "not a JSON value"),
        ({"operation": "get", "document": {}, "pointer": "/a"}, "does not resolve"),
        ({"operation": "get", "document": [], "pointer": "/x"}, "does not resolve"),
        ({"operation": "get", "document": {}, "pointer": "a"}, "does not resolve"),
        ({"operation": "patch", "document": {}, "patch": [{}]}, "operation 0 fails"),
        (
            {"operation": "patch", "document": {}, "patch": [{"op": "zap", "path": ""}]},
            "operation 0 fails",
        ),
        (
            {
                "operation": "patch",
                "document": {"a": 1},
                "patch": [
                    {"op": "remove", "path": "/a"},
                    {"op": "test", "path": "/a", "value": 1},
                ],
            },
            "operation 1 fails",
        ),
        ({"operation": "get", "document": '{"a": }', "pointer": ""}, "not valid JSON"),
        ({"operation": "get", "document": "[" * 100_000, "pointer": ""}, "nested too deep"),
    ],
)
def test_what_cannot_be_done_says_why(arguments: dict[str, Any], reason: str) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        json_transform(**arguments)


@pytest.mark.timeout(60)
@pytest.mark.parametrize(
    ("document", "expression"),
    [
        ("x", "|".join(["[@,@]"] * 40)),
        ("x", "|".join(["[@,@]"] * 40) + "|to_string(@)"),
        ("x", "|".join(["{a:@,b:@}"] * 40)),
        ("x", "|".join(["join('',[@,@])"] * 40)),
        (["x" * 1000] * 1000, "join([0], @)"),
        (list(range(100_000)), "|".join(["[*].[@]"] * 100)),
        ([[1]] * 100_000, "[]" * 900),
        (list(range(200_000)), "[" + ",".join(["max(@)"] * 150) + "]"),
        ([["x" * 2000] * 2000] * 2, "@"),
        (1, "a." * 900 + "a"),
        (1, "(" * 900 + "a" + ")" * 900),
        (1, "!" * 1900 + "a"),
    ],
    ids=[
        "lists",
        "text of lists",
        "objects",
        "text",
        "separator",
        "projections",
        "flatten",
        "scans",
        "shared",
        "path",
        "brackets",
        "not",
    ],
)
def test_a_query_that_would_explode_is_stopped(document: Any, expression: str) -> None:
    started = time.process_time()

    with contextlib.suppress(InvalidRequest):
        query(document, expression)

    assert time.process_time() - started < 6


@pytest.mark.slow
@pytest.mark.timeout(60)
def test_copies_that_would_explode_are_stopped() -> None:
    patch = [{"op": "copy", "from": "", "path": f"/{number}"} for number in range(60)]

    with pytest.raises(InvalidRequest, match="too large"):
        json_transform("patch", {"a": "b"}, patch=patch)


def test_documents_that_are_too_large_are_not_compared() -> None:
    with pytest.raises(InvalidRequest, match="too large to compare"):
        json_transform("diff", list(range(40_000)), other=list(range(40_000)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"operation": "get", "document": '{"a": [1, NaN]}', "pointer": ""},
            "The document holds nan at a[1], which is not a JSON number.",
        ),
        (
            {"operation": "merge", "document": {}, "other": '{"b": 1e999}'},
            "The other holds inf at b, which is not a JSON number.",
        ),
        (
            {"operation": "query", "document": [1e308, 1e308], "expression": "{sum: sum(@)}"},
            "The result of the expression holds inf at sum, which is not a JSON number.",
        ),
        (
            {"operation": "query", "document": "nan", "expression": "to_number(@)"},
            "The result of the expression holds nan, which is not a JSON number.",
        ),
    ],
    ids=["a text with NaN", "a number that is too large", "a sum", "a single number"],
)
def test_numbers_that_json_does_not_have_are_an_error_of_the_caller(
    arguments: dict[str, Any], message: str
) -> None:
    with pytest.raises(InvalidRequest) as refused:
        json_transform(**arguments)

    assert str(refused.value) == message
