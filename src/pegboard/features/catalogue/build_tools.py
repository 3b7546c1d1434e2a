"""Builds the tools of many definitions, and reports all faults together."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from pegboard.concurrency.cooperative import iterate_cooperatively
from pegboard.core.event import digest_of
from pegboard.core.tool import Tool, ToolSpec
from pegboard.errors import ConfigError, DuplicateTool, InvalidRequest, PegboardError
from pegboard.features.catalogue.registered_tools import RegisteredTools
from pegboard.features.catalogue.registration_drafts import Draft, Drafts

Build = Callable[[Mapping[str, Any]], Awaitable[Tool]]
"""Builds the tool of a definition; raises `ConfigError` if that is invalid."""

Builds = Callable[[], Build]
"""Returns the builder for one request, which looks up shared facts once."""

_MAX_FAULTS = 20


async def draft_registrations(
    definitions: Sequence[Mapping[str, Any]],
    build: Build,
    *,
    drafts: Drafts,
    registered: RegisteredTools,
) -> list[Draft]:
    """Draft the registrations of these definitions, in order; known ones are not built again.

    Raises:
        InvalidRequest: Definitions are invalid; lists the faults by position.
        DuplicateTool: A name belongs to a source, or to the board file.
    """
    made: list[Draft] = []
    taken: dict[str, str] = {}
    faults: list[tuple[int, PegboardError]] = []
    async for index, definition in iterate_cooperatively(enumerate(definitions)):
        digest = digest_of(definition)
        known = registered.find_by_digest(digest)
        draft = None if known is None else drafts.reuse(known)
        try:
            if draft is None:
                draft = drafts.add(definition, digest, await build(definition))
            spec, asks = draft.tool.spec, f"registration [{index}]"
            registered.check_free(spec.name, tool_id=spec.id, asks=asks)
            _check_names_differ(spec, taken, asks)
        except (ConfigError, DuplicateTool) as error:
            faults.append((index, error))
            if len(faults) > _MAX_FAULTS:
                break
        else:
            made.append(draft)
    if faults:
        raise _combine_faults(faults)
    return made


def _check_names_differ(spec: ToolSpec, taken: dict[str, str], asks: str) -> None:
    """Refuse two tools of one request if the name of one is the id of the other.

    Args:
        spec: The next tool.
        taken: The tool that each name and id refers to so far.
        asks: Who requests it, for the message.
    """
    for word in (spec.name, spec.id):
        owner = taken.setdefault(word, spec.name)
        if owner != spec.name:
            whose = f"'{owner}' of the same request"
            if word == spec.name:
                raise DuplicateTool(word, f"{whose}, whose id it is,", asks)
            raise DuplicateTool(word, whose, f"{asks}, whose id it is,")


def _combine_faults(faults: Sequence[tuple[int, PegboardError]]) -> PegboardError:
    """Combine all faults into one error."""
    first, error = faults[0]
    if len(faults) == 1 and isinstance(error, DuplicateTool):
        return error
    if len(faults) == 1:
        return InvalidRequest(f"[{first}] {error.message}")
    lines = [f"- [{index}] {error.message}" for index, error in faults[:_MAX_FAULTS]]
    if len(faults) > _MAX_FAULTS:
        lines.append("- and more, reported once these are fixed")
    return InvalidRequest("Nothing was registered:\n" + "\n".join(lines))
