"""Operations that the operator writes by hand, for an API that has no document."""

import re
from collections.abc import Iterable, Sequence
from typing import Any

from pegboard.sources.openapi.config import Action
from pegboard.sources.openapi.document.lenient_access import Located
from pegboard.sources.openapi.document.operations import Operation, Reader
from pegboard.sources.openapi.document.parser import plain
from pegboard.sources.openapi.document.references import References

_IN_PATH = re.compile(r"\{([^{}/]+)\}")


def written_by_hand(actions: Sequence[Action]) -> Iterable[Operation]:
    """Each action as an operation of an OpenAPI 3.1 document."""
    reader = Reader({}, References({"": {}}))
    for action in actions:
        item: dict[str, Any] = {action.method: _operation(action)}
        yield reader.operation(action.path, action.method, Located(node=item))


def _operation(action: Action) -> dict[str, Any]:
    in_path = set(_IN_PATH.findall(action.path))
    made: dict[str, Any] = {
        "operationId": action.name,
        "summary": action.title,
        "description": action.description,
        "tags": list(action.tags),
        "parameters": [
            {
                "name": one.name,
                "in": one.location or ("path" if one.name in in_path else "query"),
                "description": one.description,
                "required": one.required,
                "schema": plain(one.json_schema),
            }
            for one in action.parameters
        ],
    }
    if action.body is not None:
        made["requestBody"] = {
            "required": action.body_required,
            "content": {action.body_type: {"schema": plain(action.body)}},
        }
    return made
