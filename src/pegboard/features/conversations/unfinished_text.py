"""The text of an answer that was stopped or has failed, as far as it had come."""

from collections.abc import AsyncIterable

from pegboard.core.ports.run_store import RunEvent


async def read_unfinished_text(
    events: AsyncIterable[RunEvent], *, node: str, finished_turns: int
) -> str:
    """The text of the turn that was in progress; empty when there was none.

    Args:
        events: Those of the run, from the first one on.
        node: The node that answers.
        finished_turns: How many of its turns have ended; their text is in the messages.
    """
    turn = 0
    pieces: list[str] = []
    async for event in events:
        if event.data.get("node") != node:
            continue
        if event.kind == "step":  # a turn begins, or its text so far is void
            turn, pieces = int(event.data["turn"]), []
        elif event.kind == "text_delta":
            pieces.append(str(event.data["text"]))
    return "".join(pieces) if turn > finished_turns else ""
