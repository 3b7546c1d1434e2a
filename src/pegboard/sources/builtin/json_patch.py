"""JSON Pointer (RFC 6901), JSON Patch (RFC 6902) and JSON Merge Patch (RFC 7396), bounded.

It imports the library, so the module itself is imported on first use.
"""

from copy import deepcopy
from typing import Any, cast

import jsonpatch
from jsonpointer import JsonPointerException, resolve_pointer

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.computation_budget import Budget

_MAX_DIFFED = 400_000


def get(document: Any, pointer: str) -> Any:
    """Return the value at a JSON Pointer.

    Raises:
        InvalidRequest: The pointer is malformed, or there is no such value.
    """
    try:
        return resolve_pointer(document, pointer)
    except (JsonPointerException, ValueError, TypeError) as error:
        raise InvalidRequest(f"The JSON Pointer '{pointer}' does not resolve: {error}.") from error


def apply_patch(document: Any, operations: list[dict[str, Any]]) -> Any:
    """Apply all operations of a JSON Patch in order, or none of them.

    Raises:
        InvalidRequest: An operation is malformed or fails.
    """
    document = deepcopy(document)
    Budget().weigh(document)
    for number, operation in enumerate(operations):
        try:
            patch = jsonpatch.JsonPatch([operation])
            document = cast("Any", patch).apply(document, in_place=True)
        except (jsonpatch.JsonPatchException, JsonPointerException, TypeError, KeyError) as error:
            raise InvalidRequest(f"JSON Patch operation {number} fails: {error}.") from error
        if operation.get("op") == "copy":  # each of these can double the document
            Budget().weigh(document)
    return document


def make_patch(document: Any, other: Any) -> list[dict[str, Any]]:
    """Return the JSON Patch from the document to `other`.

    Raises:
        InvalidRequest: The documents are too large to compare.
    """
    budget = Budget()
    if budget.weigh(document) + budget.weigh(other) > _MAX_DIFFED:
        raise InvalidRequest("The documents are too large to compare; compare parts of them.")
    return cast("list[dict[str, Any]]", list(cast("Any", jsonpatch.make_patch(document, other))))


def merge_patch(document: Any, changes: Any) -> Any:
    """Apply a JSON Merge Patch: objects merge, null removes, anything else replaces."""
    if not isinstance(changes, dict):
        return changes
    result = dict(cast("dict[str, Any]", document)) if isinstance(document, dict) else {}
    for key, value in cast("dict[str, Any]", changes).items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge_patch(result.get(key), value)
    return result
