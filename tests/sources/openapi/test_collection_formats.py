"""Arrays of Swagger 2.0, from the document to the wire: `collectionFormat` in every place."""

from typing import Any

import pytest
from tests.sources.openapi.bench import bench

from pegboard.errors import InvalidRequest

FORMATS = ["csv", "ssv", "tsv", "pipes", "multi", None]
SEPARATORS = {"csv": ",", "ssv": " ", "tsv": "\t", "pipes": "|", "multi": ",", None: ","}
WORDS = ["a-b", "c/d", "ü&="]


def array(name: str, place: str, collection: str | None, **items: Any) -> dict[str, Any]:
    about = {"name": name, "in": place, "type": "array", "required": place == "path"}
    said = {"collectionFormat": collection} if collection else {}
    return {**about, **said, "items": items or {"type": "string"}}


def swagger(*parameters: dict[str, Any], path: str = "/a", **operation: Any) -> dict[str, Any]:
    described = {"operationId": "op", "parameters": list(parameters), **operation}
    return {
        "swagger": "2.0",
        "info": {"title": "T", "version": "1"},
        "paths": {path: {"post": {"responses": {"200": {"description": "OK"}}, **described}}},
    }


@pytest.mark.parametrize(
    ("collection", "expected"),
    [
        ("csv", "a-b,c%2Fd,%C3%BC%26%3D"),
        ("ssv", "a-b%20c%2Fd%20%C3%BC%26%3D"),
        ("tsv", "a-b%09c%2Fd%09%C3%BC%26%3D"),
        ("pipes", "a-b%7Cc%2Fd%7C%C3%BC%26%3D"),
        ("multi", "a-b,c%2Fd,%C3%BC%26%3D"),
        (None, "a-b,c%2Fd,%C3%BC%26%3D"),
    ],
)
async def test_in_a_path_the_separator_is_written_as_a_url_has_it(
    collection: str | None, expected: str
) -> None:
    described = swagger(array("ids", "path", collection), path="/x/{ids}/y")
    async with bench(described) as api:
        await api.call(ids=WORDS)

        assert api.last.path == f"/x/{expected}/y"


@pytest.mark.parametrize("collection", FORMATS)
async def test_in_a_header_the_separator_stands_as_it_is(collection: str | None) -> None:
    async with bench(swagger(array("X-Ids", "header", collection))) as api:
        await api.call(**{"X-Ids": ["a", "b-c", "3"]})

        assert api.last.headers["x-ids"] == SEPARATORS[collection].join(["a", "b-c", "3"])


@pytest.mark.parametrize("collection", FORMATS)
@pytest.mark.parametrize("value", ["a\tb", "a\r\nX-Admin: 1", "a\0"], ids=repr)
async def test_no_item_brings_a_control_character_into_a_header(
    collection: str | None, value: str
) -> None:
    nested = {"type": "array", "items": {"type": "string"}}
    both = (array("X-A", "header", collection), array("X-B", "header", collection, **nested))
    async with bench(swagger(*both)) as api:
        for arguments in ({"X-A": ["a", value]}, {"X-B": [["a"], ["b", value]]}):
            refused = await api.call(**arguments)

            assert isinstance(refused.error, InvalidRequest)
        assert not api.server.requests


@pytest.mark.parametrize(
    ("collection", "expected"),
    [
        ("csv", "my%20ids=a-b,c%2Fd,%C3%BC%26%3D"),
        ("ssv", "my%20ids=a-b%20c%2Fd%20%C3%BC%26%3D"),
        ("tsv", "my%20ids=a-b%09c%2Fd%09%C3%BC%26%3D"),
        ("pipes", "my%20ids=a-b%7Cc%2Fd%7C%C3%BC%26%3D"),
        ("multi", "my%20ids=a-b&my%20ids=c%2Fd&my%20ids=%C3%BC%26%3D"),
        (None, "my%20ids=a-b,c%2Fd,%C3%BC%26%3D"),
    ],
)
@pytest.mark.parametrize("place", ["query", "formData"])
async def test_queries_and_forms_are_percent_encoded_alike(
    place: str, collection: str | None, expected: str
) -> None:
    async with bench(swagger(array("my ids", place, collection))) as api:
        await api.call(my_ids=WORDS)

        sent = api.last.body.decode() if place == "formData" else api.last.path.partition("?")[2]
        assert sent == expected


@pytest.mark.parametrize("collection", FORMATS)
async def test_a_form_of_several_parts_has_the_array_in_one_unless_it_is_multi(
    collection: str | None,
) -> None:
    described = swagger(array("ids", "formData", collection), consumes=["multipart/form-data"])
    async with bench(described) as api:
        await api.call(ids=["a", "b"])

        sent = [part.partition(b"\r\n\r\n")[2] for part in api.last.body.split(b"\r\n--")][:-1]
        expected = ["a", "b"] if collection == "multi" else [f"a{SEPARATORS[collection]}b"]
        assert [part.decode() for part in sent] == expected


async def test_files_are_parts_of_their_own_whatever_the_format_is() -> None:
    described = swagger(array("f", "formData", "csv", type="file"))
    async with bench(described) as api:
        await api.call(f=[{"text": "one"}, {"base64": "dHdv"}])

        assert api.last.headers["content-type"].startswith("multipart/form-data")
        assert api.last.body.count(b'name="f"; filename="f"') == 2


INNER = {"type": "array", "items": {"type": "integer"}}


@pytest.mark.parametrize(
    ("outer", "inner", "expected"),
    [
        ("pipes", {**INNER, "collectionFormat": "csv"}, "m=1,2%7C3"),
        ("csv", {**INNER, "collectionFormat": "ssv"}, "m=1%202,3"),
        ("multi", {**INNER, "collectionFormat": "pipes"}, "m=1%7C2&m=3"),
        ("multi", {**INNER, "collectionFormat": "multi"}, "m=1,2&m=3"),
        ("pipes", INNER, "m=1,2%7C3"),
    ],
)
async def test_an_array_of_arrays_has_a_separator_for_each(
    outer: str, inner: dict[str, Any], expected: str
) -> None:
    places = [array("m", "query", outer, **inner)]
    async with bench(swagger(*places)) as api:
        await api.call(m=[[1, 2], [3]])

        assert api.last.path == f"/a?{expected}"


async def test_an_array_may_be_three_deep() -> None:
    deep = {"type": "array", "collectionFormat": "csv", "items": INNER}
    places = [
        array("X-M", "header", "pipes", **{**deep, "collectionFormat": "ssv"}),
        array("f", "formData", "pipes", **{**deep, "collectionFormat": "tsv"}),
        array("g", "formData", "multi", **{**deep, "collectionFormat": "tsv"}),
    ]
    value = [[[1, 2], [3]], [[4]]]
    async with bench(swagger(*places, consumes=["multipart/form-data"])) as api:
        await api.call(**{"X-M": value, "f": value, "g": value})

        assert api.last.headers["x-m"] == "1,2 3|4"
        sent = [part.partition(b"\r\n\r\n")[2] for part in api.last.body.split(b"\r\n--")][:-1]
        assert sent == [b"1,2\t3|4", b"1,2\t3", b"4"]


@pytest.mark.parametrize(
    ("place", "collection", "is_fault"),
    [
        ("query", "multi", False),
        ("header", "pipes", False),
        ("header", "multi", True),
        ("query", "semicolons", True),
        ("query", ["csv"], True),
    ],
    ids=str,
)
async def test_a_format_that_cannot_be_there_is_named_in_the_schema(
    place: str, collection: Any, is_fault: bool
) -> None:
    async with bench(swagger(array("ids", place, collection))) as api:
        comment = api.spec().input_schema["properties"]["ids"].get("$comment", "")

        assert comment.startswith("Written with commas: the document says") == is_fault


async def test_a_format_beside_a_type_that_has_no_use_for_it_is_no_mistake() -> None:
    one = {"name": "q", "in": "header", "type": "string", "collectionFormat": "multi"}
    async with bench(swagger(one)) as api:
        assert api.spec().input_schema["properties"]["q"] == {"type": "string"}


async def test_each_operation_has_its_own_types_of_answers() -> None:
    answers = {"200": {"description": "OK", "schema": {"type": "string"}}}
    described = swagger(produces=["text/csv", "application/vnd.a+json"], responses=answers)
    described["produces"] = ["application/xml"]
    async with bench(described) as api:
        await api.call()

        assert api.last.headers["accept"] == "application/vnd.a+json, text/csv"
