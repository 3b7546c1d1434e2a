import contextlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.core.graph import Graph, Node
from pegboard.errors import InvalidRequest
from pegboard.graphs.expressions.references import (
    ABSENT,
    Reference,
    escape,
    is_path,
    literal,
    parse_reference,
    references,
    resolve,
    resolve_input,
    step_of,
)

DATA: dict[str, Any] = {
    "params": {"url": "u", "n": 3, "none": ABSENT},
    "steps": {
        "fetch": {"state": "completed", "output": {"items": [{"id": 7}], "a b": 1}},
        "1": {"state": "failed", "output": None, "error": {"code": "tool_failed"}},
    },
    "item": {"x": [1, 2]},
    "index": 4,
}
IDS = ("fetch", "1")


@pytest.mark.parametrize(
    ("path", "reference"),
    [
        ("$.params.url", Reference("params", ("url",))),
        (
            "$.steps.fetch.output.items[0].id",
            Reference("steps", ("fetch", "output", "items", 0, "id")),
        ),
        ("$.steps[0].output", Reference("steps", (0, "output"))),
        ("$.steps['a.b'].output[\"c d\"]", Reference("steps", ("a.b", "output", "c d"))),
        (r"$.params['it\'s']", Reference("params", ("it's",))),
        ("$.item", Reference("item")),
        ("$.steps.web-fetch.output", Reference("steps", ("web-fetch", "output"))),
    ],
)
def test_a_path_is_read_and_written(path: str, reference: Reference) -> None:
    assert parse_reference(path) == reference
    assert parse_reference(reference.text) == reference


@pytest.mark.parametrize(
    "path",
    [
        "$.",
        "$.50",
        "$.param.x",
        "$.steps..x",
        "$.steps[x]",
        "$.params.a b",
        "$.params[-1]",
        "$.params[",
    ],
)
def test_what_is_no_path_says_how_to_write_the_text(path: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        parse_reference(path)

    assert f"write '${path}'" in str(caught.value)


@pytest.mark.parametrize(
    "hole",
    [
        "{{",
        "{{}}",
        "{{ }}",
        "{{ name }}",
        "{{ params.a | upper }}",
        "{{ params.n + 1 }}",
        "{{ $.params.a }}",
        "{{ params.a",
        "{{ params.ab}",
        "{{{ params.a }}}",
        "{{ it's }}",
    ],
)
def test_braces_without_a_path_say_how_to_write_them(hole: str) -> None:
    (found,) = [path for _, path in references({"a": f"x {hole}"})]
    with pytest.raises(InvalidRequest) as caught:
        parse_reference(found)

    assert "for the braces themselves, write {{ '{{' }}." in str(caught.value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("$.params.url", "u"),
        ("$.steps.fetch.output.items[0].id", 7),
        ("$.steps[0].output['a b']", 1),
        ("$.steps.1.error.code", "tool_failed"),
        ("$.steps['1'].state", "failed"),
        ("$.steps[1].output.whatever", None),
        ("$.item.x[1]", 2),
        ("$.index", 4),
        ("$.params", {"url": "u", "n": 3}),
        ("$.params.none.deeper", None),
        ({"a": ["$.index", {"b": "$.params.n"}], "c": "plain"}, {"a": [4, {"b": 3}], "c": "plain"}),
        (("$.index",), [4]),
        ("$$.50", "$.50"),
        ("$$$.50", "$$.50"),
        ("$5", "$5"),
        ("$$", "$$"),
        (1.5, 1.5),
        (None, None),
        ("{{ params.url }}-b", "u-b"),
        ("{{params.n}}{{ index }}", "34"),
        ({"a": ["{{ steps.fetch.output }}"]}, {"a": ['{"items":[{"id":7}],"a b":1}']}),
        ("$$.{{ steps[0].output['a b'] }}", "$.1"),
        ("{{ params.none }}, {{ steps.1.output }}", "null, null"),
        ("{{ '{{' }} params.url }}", "{{ params.url }}"),
        ('{"n":{{ params.n }}}', '{"n":3}'),
        ("}} { {", "}} { {"),
    ],
)
def test_a_value_is_resolved(value: object, expected: object) -> None:
    assert resolve(value, DATA, ids=IDS) == expected


@pytest.mark.parametrize(
    ("path", "said"),
    [
        ("$.params.uri", "there is no 'uri', only url, n"),
        ("$.steps.fetch.output.items[3]", "the list has 1 items"),
        ("$.steps.fetch.output.items.id", "looked for in a list"),
        ("$.params.url[0]", "looked for in a text"),
        ("$.params.n.x", "looked for in a number"),
        ("$.steps.later.output", "has not ended"),
        ("$.steps[9].output", "has not ended"),
        ("$.output", "is not known here"),
        ("$.item.x[0][0]", "looked for in a number"),
        ("$.steps.1.error.code.x", "looked for in a text"),
        ("at {{ params.uri }}", "there is no 'uri', only url, n"),
        ("{{ name }}", "beginning with one of params, steps"),
    ],
)
def test_a_path_that_leads_to_nothing_says_where(path: str, said: str) -> None:
    with pytest.raises(InvalidRequest) as caught:
        resolve(path, DATA, ids=IDS)

    assert said in str(caught.value)


@pytest.mark.parametrize(
    ("value", "word"), [(None, "null"), (True, "a boolean"), ({"a": 1}, "an object")]
)
def test_an_error_says_what_is_there_instead(value: object, word: str) -> None:
    with pytest.raises(InvalidRequest, match=word):
        resolve("$.item[0]", {"item": value})


def test_an_argument_of_a_step_that_gave_nothing_is_left_out() -> None:
    given = {"a": "$.steps.1.output.x", "b": ["$.steps.1.output.x"], "c": "$.params.none", "d": 1}

    assert resolve_input(given, DATA, ids=IDS) == {"b": [None], "d": 1}


def test_an_argument_that_leads_to_nothing_is_named() -> None:
    with pytest.raises(InvalidRequest, match=r"^input 'a': \$\.params\.uri"):
        resolve_input({"a": "$.params.uri"}, DATA)


def test_paths_within_a_value_are_found_with_their_places() -> None:
    value = {"a": ["$.index", {"b": "$.item"}], "c": "$$.x", "d": "$.params.url"}
    value["e"] = "{{ item }} of {{ params['}}'] }}{{ '{{' }}"

    assert list(references(value)) == [
        ("a[0]", "$.index"),
        ("a[1].b", "$.item"),
        ("d", "$.params.url"),
        ("e", "{{ item }}"),
        ("e", "{{ params['}}'] }}"),
    ]
    assert parse_reference("{{ params['}}'] }}") == Reference("params", ("}}",))


def test_a_step_is_known_by_position_and_by_id() -> None:
    graph = Graph(nodes=(Node(id="a"), Node(id="0")))

    assert step_of(parse_reference("$.steps[1].output"), graph) == "0"
    assert step_of(parse_reference("$.steps['0'].output"), graph) == "0"
    assert step_of(parse_reference("$.steps[2].output"), graph) is None
    assert step_of(parse_reference("$.params.x"), graph) is None
    assert step_of(parse_reference("$.steps"), graph) is None


JSON = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.from_regex(r"\A\${0,4}\.?[a-z]{0,3}\Z")
    | st.from_regex(r"\A\${0,2}\.?([{}' ]|item){0,9}\Z"),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=10,
)


@pytest.mark.timeout(60)
@given(JSON)
def test_a_value_can_always_be_written_so_that_it_stands_for_itself(value: object) -> None:
    written = escape(value)

    assert resolve(written, DATA) == value
    assert literal(written) == value
    assert list(references(written)) == []


@given(st.text())
def test_every_text_is_a_path_or_is_not(text: str) -> None:
    path = f"$.{text}"

    assert is_path(path)
    with contextlib.suppress(InvalidRequest):
        assert parse_reference(parse_reference(path).text) == parse_reference(path)
