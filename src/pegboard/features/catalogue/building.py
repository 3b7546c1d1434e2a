"""Making tools of many definitions: in turns with other work, and with every fault told."""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pegboard.core.event import digest_of
from pegboard.core.tool import Tool
from pegboard.errors import ConfigError, DuplicateTool, InvalidRequest, PegboardError
from pegboard.features.catalogue.drafts import Draft, Drafts
from pegboard.features.catalogue.shelf import Shelf

Build = Callable[[Mapping[str, Any]], Awaitable[Tool]]
"""Makes the tool of a definition; raises `ConfigError` for what is wrong with it."""

_TURN = 100
"""So many tools are made before other work of the process gets its turn."""
_MOST_FAULTS = 20


async def drafted(
    definitions: Sequence[Mapping[str, Any]], build: Build, *, drafts: Drafts, shelf: Shelf
) -> list[Draft]:
    """The definitions as registrations, in their order; those that are known are not made anew.

    Raises:
        InvalidRequest: Some are wrong; says which, and where.
        DuplicateTool: One name belongs to a source, or to the board file.
    """
    made: list[Draft] = []
    faults: list[tuple[int, PegboardError]] = []
    for index, definition in enumerate(definitions):
        if not index % _TURN:
            await asyncio.sleep(0)
        digest = digest_of(definition)
        known = shelf.by_digest(digest)
        draft = None if known is None else drafts.known(known)
        try:
            if draft is None:
                draft = drafts.add(definition, digest, await build(definition))
            shelf.check_free(draft.tool.spec.name, asks=f"registration [{index}]")
        except (ConfigError, DuplicateTool) as error:
            faults.append((index, error))
            if len(faults) > _MOST_FAULTS:
                break
        else:
            made.append(draft)
    if faults:
        raise _told(faults)
    return made


def _told(faults: Sequence[tuple[int, PegboardError]]) -> PegboardError:
    """One error for all of them."""
    first, error = faults[0]
    if len(faults) == 1 and isinstance(error, DuplicateTool):
        return error
    if len(faults) == 1:
        return InvalidRequest(f"[{first}] {error.message}")
    lines = [f"- [{index}] {error.message}" for index, error in faults[:_MOST_FAULTS]]
    if len(faults) > _MOST_FAULTS:
        lines.append("- and more: they are told once these are mended")
    return InvalidRequest("Nothing is registered:\n" + "\n".join(lines))
