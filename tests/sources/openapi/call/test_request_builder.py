import re
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pegboard.errors import InvalidRequest
from pegboard.sources.openapi.call.arguments import ArgumentPlan, ArgumentSettings, plan_arguments
from pegboard.sources.openapi.call.credentials import CredentialPart
from pegboard.sources.openapi.call.request_builder import OutgoingRequest, Route, build_request
from pegboard.sources.openapi.document.lenient_access import LocatedNode
from pegboard.sources.openapi.document.operations import OperationReader
from pegboard.sources.openapi.document.references import References
from pegboard.sources.openapi.schema.translator import SchemaTranslator

BASE = "https://api.test/v1"


def planned(node: dict[str, Any], path: str, **settings: Any) -> ArgumentPlan:
    operation = OperationReader({}, References({"": {}})).operation(
        path, "post", LocatedNode(node={"post": node})
    )
    schemas = SchemaTranslator(References({"": {}}), sending=True, siblings=False)
    return plan_arguments(operation, schemas, ArgumentSettings(**settings))


def built(
    node: dict[str, Any], given: dict[str, Any], path: str = "/a", **route: Any
) -> OutgoingRequest:
    made = Route(method="post", base=BASE, path=path, **route)
    return build_request(made, planned(node, path), given)


def parameters(*places: str) -> dict[str, Any]:
    made = [{"name": f"{place}1", "in": place, "schema": {}} for place in places]
    return {"parameters": made}


def test_each_argument_goes_to_its_place() -> None:
    node = parameters("path", "query", "header", "cookie")
    given = {"path1": "a/b", "query1": "c d", "header1": "e", "cookie1": "f"}

    made = built(node, given, path="/x/{path1}.json")

    assert made.url == f"{BASE}/x/a%2Fb.json?query1=c%20d"
    assert made.headers == {"accept": "*/*", "header1": "e", "cookie": "cookie1=f"}
    assert made.content is None


def test_what_is_null_or_absent_is_not_sent() -> None:
    made = built(parameters("query", "header", "cookie"), {"query1": None, "header1": None})

    assert (made.url, dict(made.headers)) == (f"{BASE}/a", {"accept": "*/*"})


def test_credentials_go_last_and_win() -> None:
    parts = (
        CredentialPart(location="query", name="key", value="a&b"),
        CredentialPart(location="cookie", name="sid", value="s"),
        CredentialPart(location="header", name="Header1", value="secret"),
    )
    node = parameters("query", "header", "cookie")
    given = {"query1": "1", "header1": "mine", "cookie1": "2"}

    made = built(node, given, credential=parts, headers={"X-Fixed": "f", "Accept": "text/csv"})

    assert made.url == f"{BASE}/a?query1=1&key=a%26b"
    assert made.headers == {
        "accept": "text/csv",
        "header1": "secret",
        "x-fixed": "f",
        "cookie": "cookie1=2; sid=s",
    }
    assert "secret" not in repr(made)
    assert "secret" not in repr(parts)


def test_values_of_the_operator_are_sent_and_defaults_give_way() -> None:
    made = planned(
        parameters("query", "header"), "/a", hidden={"query1": "h"}, defaults={"header1": "d"}
    )
    route = Route(method="get", base=BASE, path="/a")

    assert build_request(route, made, {}).url == f"{BASE}/a?query1=h"
    assert build_request(route, made, {"header1": "mine"}).headers["header1"] == "mine"


def body(required: bool, **properties: Any) -> dict[str, Any]:
    content = {"application/json": {"schema": {"type": "object", "properties": properties}}}
    return {"requestBody": {"required": required, "content": content}}


@pytest.mark.parametrize(
    ("required", "given", "content"),
    [
        (True, {"a": 1}, b'{"a":1}'),
        (True, {}, b"{}"),
        (False, {}, None),
        (False, {"a": None}, b'{"a":null}'),
    ],
)
def test_a_flat_body_is_put_together(
    required: bool, given: dict[str, Any], content: object
) -> None:
    made = built(body(required, a={}), given)

    assert made.content == content
    assert ("content-type" in made.headers) is (content is not None)


def test_a_whole_body_is_sent_as_it_is_given() -> None:
    node = {"requestBody": {"content": {"application/json": {"schema": {"type": "array"}}}}}

    assert built(node, {"body": [1]}).content == b"[1]"
    assert built(node, {}).content is None


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/a?action=list", "/a?action=list&query1=q"),
        ("/a b/{", "/a%20b/%7B?query1=q"),
        ("/a#part", "/a?query1=q"),
        ("//evil.test/x", "//evil.test/x?query1=q"),
        ("/a/../b", "/a/../b?query1=q"),
    ],
)
def test_what_the_document_says_of_a_path_is_kept(path: str, expected: str) -> None:
    made = built(parameters("query"), {"query1": "q"}, path=path)

    assert made.url == BASE + expected
    assert urlsplit(made.url).netloc == "api.test"


CLIMBING = [
    "..",
    ".",
    "../admin",
    "a/../b",
    "..\\..",
    "%2e%2e",
    "%252e%252e/x",
    "..;x",
    "a/..",
    "./a",
]


@pytest.mark.parametrize("value", CLIMBING)
def test_a_path_argument_never_climbs(value: str) -> None:
    with pytest.raises(InvalidRequest, match="'path1' must not have"):
        built(parameters("path"), {"path1": value}, path="/files/{path1}")


def test_a_long_chain_of_escapes_takes_no_time() -> None:
    value = "%" + "25" * 500_000 + "2e"

    assert built(parameters("path"), {"path1": value}, path="/files/{path1}").url.endswith("2e")


def test_two_arguments_cannot_climb_together() -> None:
    node = {"parameters": [{"name": name, "in": "path", "schema": {}} for name in "ab"]}

    with pytest.raises(InvalidRequest, match="'a, b' must not have"):
        built(node, {"a": ".", "b": "."}, path="/x/{a}{b}")
    assert built(node, {"a": "v1", "b": "."}, path="/x/{a}{b}").url == f"{BASE}/x/v1."


@pytest.mark.parametrize("value", ["", [], {}, None])
def test_a_path_argument_is_never_empty(value: object) -> None:
    with pytest.raises(InvalidRequest, match="'path1' is part of the path and must not be empty"):
        built(parameters("path"), {"path1": value}, path="/files/{path1}")


@given(st.text(st.characters(codec="utf-8"), min_size=1))
def test_whatever_a_path_argument_says_the_path_has_the_same_segments(value: str) -> None:
    try:
        made = built(parameters("path"), {"path1": value}, path="/files/{path1}/end")
    except InvalidRequest:
        return
    url = urlsplit(made.url)

    assert (url.netloc, url.query, url.fragment) == ("api.test", "", "")
    start, files, own, end = url.path.split("/")[1:]
    assert (start, files, unquote(own), end) == ("v1", "files", value, "end")


@pytest.mark.parametrize("place", ["query", "cookie"])
def test_no_object_says_what_only_the_operator_says(place: Any) -> None:
    schema = {"type": "object"}
    node: dict[str, Any] = {
        "parameters": [
            {"name": "more", "in": place, "explode": True, "schema": schema},
            {"name": "tenant", "in": place, "schema": {}},
            {"name": "page", "in": place, "schema": {}},
        ]
    }
    made = Route(
        method="post",
        base=BASE,
        path="/a",
        credential=(CredentialPart(location=place, name="key", value="secret"),),
    )
    planning = planned(node, "/a", hidden={"tenant": "acme"})

    for name in ("tenant", "Tenant", "tenant[]", "tenant[0]", "tenant\0", "key", "page"):
        with pytest.raises(InvalidRequest, match=f"'more' must not have '{re.escape(name)}'"):
            build_request(made, planning, {"more": {name: "other"}})
    sent = build_request(made, planning, {"more": {"size": 2, "more": 3}, "page": 1})
    assert "size=2" in (sent.url if place == "query" else sent.headers["cookie"])


def test_a_deep_object_does_not_say_what_a_hidden_argument_says() -> None:
    deep = {"name": "f", "in": "query", "style": "deepObject", "schema": {"type": "object"}}
    node = {"parameters": [deep, {"name": "f[owner]", "in": "query", "schema": {}}]}
    planning = planned(node, "/a", hidden={"f_owner": "acme"})
    made = Route(method="get", base=BASE, path="/a")

    for value in ({"owner": "evil"}, {"owner": {"": "evil"}}, {"owner]": "evil"}):
        with pytest.raises(InvalidRequest, match="'f' must not have"):
            build_request(made, planning, {"f": value})
    assert "f%5Bsize%5D=2" in build_request(made, planning, {"f": {"size": 2}}).url


@pytest.mark.parametrize("hidden", [{"f_owner": "acme"}, {"f_owner_id": "acme"}], ids=str)
def test_a_plain_value_does_not_take_the_place_of_a_deep_object(hidden: dict[str, str]) -> None:
    schema = {"anyOf": [{"type": "object"}, {"type": "string"}]}
    deep = {"name": "f", "in": "query", "style": "deepObject", "schema": schema}
    [argument] = hidden
    name = {"f_owner": "f[owner]", "f_owner_id": "f[owner][id]"}[argument]
    made = Route(method="get", base=BASE, path="/a")
    alone = planned({"parameters": [deep]}, "/a")
    node = {"parameters": [deep, {"name": name, "in": "query", "schema": {}}]}
    planning = planned(node, "/a", hidden=hidden)

    with pytest.raises(InvalidRequest, match="'f' must be an object"):
        build_request(made, planning, {"f": "evil"})
    assert build_request(made, alone, {"f": "fine"}).url.endswith("?f=fine")


def test_a_plain_value_does_not_take_the_place_of_a_deep_object_in_a_form() -> None:
    schema = {"type": "object", "properties": {"f": {}, "f[owner]": {"type": "string"}}}
    media = {"schema": schema, "encoding": {"f": {"style": "deepObject", "explode": True}}}
    node = {"requestBody": {"content": {"application/x-www-form-urlencoded": media}}}
    planning = planned(node, "/a", hidden={"f[owner]": "acme"})
    made = Route(method="post", base=BASE, path="/a")

    with pytest.raises(InvalidRequest, match="'f' must be an object"):
        build_request(made, planning, {"f": "evil"})


def test_no_object_repeats_the_query_of_the_path() -> None:
    more = {"name": "more", "in": "query", "schema": {"type": "object"}}
    made = Route(method="get", base=BASE, path="/a?kind=public")

    with pytest.raises(InvalidRequest, match="'more' must not have 'kind'"):
        build_request(made, planned({"parameters": [more]}, "/a"), {"more": {"kind": "private"}})


def test_an_object_of_a_form_does_not_say_what_a_hidden_argument_says() -> None:
    schema = {
        "type": "object",
        "properties": {"more": {"type": "object"}, "owner": {"type": "string"}},
    }
    media = {"schema": schema, "encoding": {"more": {"style": "form", "explode": True}}}
    node = {"requestBody": {"content": {"application/x-www-form-urlencoded": media}}}
    planning = planned(node, "/a", hidden={"owner": "acme"})
    made = Route(method="post", base=BASE, path="/a")

    with pytest.raises(InvalidRequest, match="'more' must not have 'owner'"):
        build_request(made, planning, {"more": {"owner": "evil"}})
    sent = build_request(made, planning, {"more": {"size": 2}})
    assert sent.content == b"size=2&owner=acme"


@pytest.mark.parametrize(
    ("place", "style", "value", "separator"),
    [
        ("query", {"explode": False}, ["a", "b,c"], ","),
        ("query", {"style": "spaceDelimited", "explode": False}, ["a b"], " "),
        ("query", {"style": "pipeDelimited", "explode": False}, ["a|b"], "|"),
        ("query", {"explode": False}, {"a": "1,b,2"}, ","),
        ("path", {}, ["a,b"], ","),
        ("path", {"style": "label", "explode": True}, ["a.b"], "."),
        ("header", {}, ["a,b"], ","),
        ("header", {"explode": True}, {"a": "1,b=2"}, ","),
        ("header", {"explode": True}, {"a=1": "2"}, "="),
        ("cookie", {"explode": False}, ["a,b"], ","),
    ],
)
def test_an_item_with_the_separator_of_its_array_is_refused(
    place: str, style: dict[str, Any], value: Any, separator: str
) -> None:
    one = {"name": "v", "in": place, "schema": {}, **style}
    path = "/a/{v}" if place == "path" else "/a"

    with pytest.raises(InvalidRequest, match=f"'v' must not have '{re.escape(separator)}' within"):
        built({"parameters": [one]}, {"v": value}, path=path)
