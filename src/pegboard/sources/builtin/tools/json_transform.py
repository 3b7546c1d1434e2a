"""`json_transform`: queries and changes of a JSON document."""

import json
from typing import Annotated, Any, Literal

from pydantic import Field

from pegboard.errors import InvalidRequest
from pegboard.schemas.problems import path_of
from pegboard.schemas.strict_json import find_not_finite
from pegboard.tools import tool

Operation = Literal["query", "get", "patch", "merge", "diff"]


@tool(
    effect="read",
    category="general",
    idempotent=True,
    timeout=10,
    tags=("json", "jmespath", "json pointer", "json patch"),
)
def json_transform(
    operation: Operation,
    document: Any,
    *,
    expression: Annotated[str, Field(max_length=2000)] | None = None,
    pointer: Annotated[str, Field(max_length=2000)] | None = None,
    patch: Annotated[list[dict[str, Any]], Field(max_length=500)] | None = None,
    other: Any = None,
) -> Any:
    """Select from a JSON document, change it, or compare two.

    Operations:
    query (expression): what a JMESPath expression finds, as in
    "orders[?total > `100`].{id: id, who: customer.name}".
    get (pointer): the value at a JSON Pointer, as in "/orders/0/customer/name".
    patch (patch): the document after the operations of a JSON Patch (add, remove, replace, move,
    copy, test).
    merge (other): the document after a JSON Merge Patch: objects are merged, null removes a key.
    diff (other): the JSON Patch that leads from `document` to `other`.

    Args:
        operation: What to do.
        document: Any JSON value. A text that holds a JSON object or array is read as JSON.
        expression: For query: JMESPath.
        pointer: For get: a JSON Pointer; "" is the whole document.
        patch: For patch: such as [{"op": "replace", "path": "/name", "value": "Ann"}].
        other: For merge: the changes. For diff: the second document.
    """
    from pegboard.sources.builtin import json_patch

    try:
        document, other = _read("document", document), _read("other", other)
        match operation:
            case "query":
                from pegboard.sources.builtin.jmespath_queries import query

                found = query(document, _require("expression", expression))
                _refuse_not_finite(found, "result of the expression")
                return found
            case "get":
                return json_patch.get(document, _require("pointer", pointer))
            case "patch":
                return json_patch.apply_patch(document, _require("patch", patch))
            case "merge":
                return json_patch.merge_patch(document, other)
            case "diff":
                return json_patch.make_patch(document, other)
    except RecursionError as error:
        raise InvalidRequest("The document is nested too deep.") from error


def _require(name: str, value: Any) -> Any:
    if value is None:
        raise InvalidRequest(f"This operation needs '{name}'.")
    return value


def _read(name: str, value: Any) -> Any:
    if not (isinstance(value, str) and value.lstrip()[:1] in ("{", "[")):
        return value
    try:
        document = json.loads(value)
    except ValueError as error:
        raise InvalidRequest(f"The text is not valid JSON: {error}.") from error
    _refuse_not_finite(document, name)
    return document


def _refuse_not_finite(value: Any, name: str) -> None:
    """JSON has no NaN and no infinities; Python's reader and JMESPath make them."""
    for place, number in find_not_finite(value):
        at = f" at {path_of(place)}" if place else ""
        raise InvalidRequest(f"The {name} holds {number}{at}, which is not a JSON number.")
