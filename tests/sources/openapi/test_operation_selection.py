from typing import Any

import pytest
from fastapi import FastAPI

from pegboard.core.tool import Effect
from pegboard.errors import SourceUnavailable
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.document.operations import Operation
from pegboard.sources.openapi.operation_selection import (
    SelectedOperation,
    readable_names,
    select_operations,
    unique_ids,
)


def op(name: str, method: str = "get", path: str = "/a", *tags: str) -> Operation:
    return Operation(method=method, path=path, id=name, tags=tags)


OPERATIONS = (
    op("listOrders", "get", "/orders", "orders"),
    op("getOrder", "get", "/orders/{id}", "orders"),
    op("deleteOrder", "delete", "/orders/{id}", "orders", "admin"),
    op("listUsers", "get", "/users", "users"),
)


def choose(*operations: Operation, **config: Any) -> tuple[list[SelectedOperation], str]:
    checked = OpenApiConfig.model_validate({"document": {}, **config})
    return select_operations("shop", operations or OPERATIONS, checked)


def actions(**config: Any) -> list[str]:
    return [one.action for one in choose(**config)[0]]


def test_operations_are_also_chosen_by_the_names_of_their_tools() -> None:
    nameless = (op("GET /orders/{id}", path="/orders/{id}"), op("repos/get", path="/repos"))

    [chosen], _ = choose(*nameless, include={"operations": ["repos_get"]})
    [left], _ = choose(*nameless, exclude={"operations": ["repos_get"]})

    assert (chosen.action, left.action) == ("repos_get", "get_orders_id")


@pytest.mark.parametrize(
    ("config", "expected"),
    [
        ({}, ["listOrders", "getOrder", "deleteOrder", "listUsers"]),
        ({"include": {"tags": ["orders"]}}, ["listOrders", "getOrder", "deleteOrder"]),
        ({"include": {"tags": ["orders"], "methods": ["GET"]}}, ["listOrders", "getOrder"]),
        ({"include": [{"tags": ["users"]}, {"paths": ["/orders"]}]}, ["listOrders", "listUsers"]),
        ({"include": {"paths": ["/orders/{id}"]}}, ["getOrder", "deleteOrder"]),
        ({"include": {"paths": ["/orders*"]}}, ["listOrders", "getOrder", "deleteOrder"]),
        ({"include": {"operations": ["list*"]}}, ["listOrders", "listUsers"]),
        ({"exclude": {"methods": ["delete"]}}, ["listOrders", "getOrder", "listUsers"]),
        ({"exclude": {"tags": ["admin"]}}, ["listOrders", "getOrder", "listUsers"]),
        (
            {"include": {"tags": ["orders"]}, "exclude": {"operations": ["get*"]}},
            ["listOrders", "deleteOrder"],
        ),
    ],
    ids=str,
)
def test_operations_are_chosen(config: dict[str, Any], expected: list[str]) -> None:
    assert actions(**config) == expected


@pytest.mark.parametrize(
    "config",
    [
        {"exclude": {"operations": ["deletOrder"]}},
        {"exclude": {"tags": ["Admin"]}},
        {"exclude": {"paths": ["/order"]}},
        {"overrides": {"deletOrder": {"effect": "admin"}}},
        {"overrides": {"delet_*": {"effect": "admin"}}},
    ],
    ids=str,
)
def test_a_misspelt_exclusion_stops_the_source(config: dict[str, Any]) -> None:
    with pytest.raises(SourceUnavailable, match="names what the document does not have"):
        choose(**config)


def test_each_misspelt_word_is_told_with_its_place_and_the_nearest_word() -> None:
    with pytest.raises(SourceUnavailable) as caught:
        choose(exclude={"operations": ["deletOrder", "x*"]}, overrides={"listOrder": {}})

    assert str(caught.value) == (
        "The configuration names what the document does not have: exclude: 'deletOrder' (did you "
        "mean 'deleteOrder'?), 'x*'; overrides: 'listOrder' (did you mean 'listOrders'?). Correct "
        "the spelling, or remove it."
    )


def test_a_misspelt_inclusion_is_noted() -> None:
    found, note = choose(include={"operations": ["listOrders", "listOrdres"]})

    assert len(found) == 1
    assert note == "include matches nothing for: 'listOrdres' (did you mean 'listOrders'?)."


def test_choosing_nothing_is_a_mistake() -> None:
    with pytest.raises(SourceUnavailable, match="None of 4 operations is selected"):
        choose(include={"operations": ["x"]})


def test_a_document_without_operations_has_no_tools() -> None:
    config = OpenApiConfig.model_validate({"document": {}})

    assert select_operations("shop", (), config) == ([], "The document has no operations.")


def test_later_overrides_win_and_arguments_are_put_together() -> None:
    overrides = {
        "*Order*": {"effect": "admin", "hidden": {"a": 1, "b": 1}, "title": "T"},
        "getOrder": {"effect": "read", "hidden": {"b": 2}, "name": "find_order"},
    }

    one, two, *_ = choose(overrides=overrides)[0]

    assert (one.override.effect, one.override.hidden, one.is_exact) == (
        Effect.ADMIN,
        {"a": 1, "b": 1},
        False,
    )
    assert (two.override.effect, two.override.hidden, two.is_exact) == (
        Effect.READ,
        {"a": 1, "b": 2},
        True,
    )
    assert (two.action, two.override.title) == ("find_order", "T")


def test_two_tools_never_have_one_name() -> None:
    with pytest.raises(SourceUnavailable, match=r"'shop__listUsers': rename one in overrides"):
        choose(overrides={"listOrders": {"name": "listUsers"}})


def test_an_id_that_is_absent_or_twice_is_method_and_path() -> None:
    operations = (op("a"), op("", "get", "/x/{id}"), op("b", "get", "/y"), op("b", "post", "/y"))

    ids = unique_ids(operations)

    assert ids == ["a", "GET /x/{id}", "GET /y", "POST /y"]
    assert list(readable_names(ids).values()) == ["a", "get_x_id", "get_y", "post_y"]


def test_names_are_legible_unless_two_would_be_alike() -> None:
    ids = ["repos/get", "List all pets", "a/b", "a_b", "c/d", "c.d", "список"]

    assert readable_names(ids) == {
        "repos/get": "repos_get",
        "List all pets": "List_all_pets",
        "a/b": "a/b",
        "a_b": "a_b",
        "c/d": "c/d",
        "c.d": "c.d",
        "список": "список",
    }


def a_fastapi_document() -> dict[str, Any]:
    app = FastAPI()

    def list_tickets() -> None: ...
    def close(number: int) -> None: ...
    def read(path: str) -> None: ...

    app.get("/tickets")(list_tickets)
    app.post("/tickets/{number}/close")(close)
    app.post("/doors/{number}/close")(close)
    app.get("/files/{path:path}")(read)
    app.get("/", operation_id="read")(list_tickets)
    return app.openapi()


def test_the_names_of_a_fastapi_document_are_those_of_its_functions() -> None:
    document = a_fastapi_document()
    operations = [
        Operation(method=method, path=path, id=node["operationId"])
        for path, item in document["paths"].items()
        for method, node in item.items()
    ]

    chosen, _ = choose(*operations, overrides={"list_tickets": {"title": "Tickets"}})

    assert [(one.action, one.id, one.is_exact) for one in chosen] == [
        ("list_tickets", "list_tickets_tickets_get", True),
        ("close_tickets__number__close_post", "close_tickets__number__close_post", False),
        ("close_doors__number__close_post", "close_doors__number__close_post", False),
        ("read_files__path__get", "read_files__path__get", False),
        ("read", "read", False),
    ]


@pytest.mark.parametrize("pattern", ["list_tickets", "list_tickets_tickets_get", "list_*"])
def test_a_filter_knows_an_operation_by_both_names(pattern: str) -> None:
    operations = (op("list_tickets_tickets_get", "get", "/tickets"), op("b", "get", "/b"))

    chosen, note = choose(*operations, include={"operations": [pattern]})

    assert ([one.action for one in chosen], note) == (["list_tickets"], "")


def test_a_name_does_not_depend_on_what_is_selected() -> None:
    operations = (op("read_a_get", "get", "/a"), op("read_b_get", "get", "/b"))

    chosen, _ = choose(*operations, exclude={"paths": ["/b"]})

    assert [one.action for one in chosen] == ["read_a_get"]
