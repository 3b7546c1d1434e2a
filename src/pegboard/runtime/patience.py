"""How long a board waits for its sources before it goes on without the slow ones."""

import asyncio
from collections.abc import Mapping

from pegboard.runtime.sources.state import SourceState

OWN = 3
"""So many times longer are those waited for that run in this process."""


async def wait_for_sources(
    listing: "Mapping[asyncio.Task[None], SourceState]", *, patience: float | None
) -> None:
    """Wait for what lists sources, and leave alone what takes longer.

    Sources of this process have longer: these hang seldom, and a machine with much to do at a start
    is slow to load them.

    Args:
        listing: What runs, and for which source.
        patience: Seconds for the remote ones; None waits for all.
    """
    if not listing:
        return
    _, slow = await asyncio.wait(listing, timeout=patience)
    own = [task for task in slow if not _is_remote(listing[task])]
    if own and patience:
        await asyncio.wait(own, timeout=patience * (OWN - 1))


def _is_remote(state: SourceState) -> bool:
    return state.opener is not None and state.opener.kind.remote
