"""Layer 2: results of earlier turns are cleared, the oldest first, and stored under handles."""

from collections.abc import Awaitable, Callable

from pegboard.core.model_messages import Message, ToolMessage
from pegboard.engines.context.view import ContextView, ResultNote

StoreText = Callable[[str], Awaitable[str]]
"""Stores a text for the caller of the run; the handle, empty when it could not be stored."""
_NOTE = 100
"""Units of a note, roughly; only results that are more than twice as large are cleared."""


async def clear_stale_results(
    view: ContextView, store: StoreText, *, keep_turns: int, target: int, least: int = 0
) -> ContextView:
    """Clear results until a request has so many tokens, or no stale result is left.

    Args:
        view: The conversation.
        store: Stores what is cleared.
        keep_turns: The last turns, whose results stay; at least the current one.
        target: Tokens of a request.
        least: Tokens to be saved; where there are fewer, nothing is cleared.
    """
    cleared = {note.index for note in view.state.notes}
    excess, chosen = view.tokens - target, list[int]()
    saved = 0
    for index in range(view.start, view.last_turns(max(1, keep_turns))):
        size = view.sizes[index] - _NOTE
        if saved >= excess:
            break
        if isinstance(view.messages[index], ToolMessage) and index not in cleared and size > _NOTE:
            chosen.append(index)
            saved += view.tokens_of(size)
    if not chosen or saved < least:
        return view
    notes = [ResultNote(index, await _clear(view.messages[index], store)) for index in chosen]
    return view.replace(notes=(*view.state.notes, *notes))


async def _clear(message: Message, store: StoreText) -> str:
    return _write_note(message.text, await store(message.text))


def _write_note(text: str, handle: str) -> str:
    size = len(text.encode("utf-8", "surrogatepass"))
    if not handle:
        return f"[A result of {size} bytes was removed to save room, and could not be stored.]"
    return (
        f"[A result of {size} bytes was removed to save room. It is stored as {handle}: read it "
        "from page 1 with that, or give it to another tool as an argument.]"
    )
