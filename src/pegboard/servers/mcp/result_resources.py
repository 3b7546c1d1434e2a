"""Stored results as resources: `pegboard://results/...`, for their owner alone."""

import base64
from typing import Any

from pegboard.core.principal import Principal
from pegboard.execution.results.handles import find
from pegboard.runtime import Pegboard

_TEXTS = ("text/", "application/json", "application/xml", "application/yaml")


async def stored_contents(board: Pegboard, handle: str, principal: Principal) -> dict[str, Any]:
    """The whole of a stored result, as the contents of a resource.

    Raises:
        HandleNotFound: Unknown, expired or somebody else's.
    """
    stored = await find(handle, board.registry.kit.results, principal.owner)
    contents: dict[str, Any] = {"uri": handle, "mimeType": stored.media_type}
    if stored.media_type.startswith(_TEXTS):
        try:
            return contents | {"text": stored.body.decode()}
        except UnicodeDecodeError:
            pass  # as bytes it is whole
    return contents | {"blob": base64.b64encode(stored.body).decode("ascii")}
