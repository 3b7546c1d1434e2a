"""Keeping Python's garbage collector from what is made in great number and stays."""

import gc
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from typing import Any, cast

_MANY = 1_000


@contextmanager
def collecting_later(count: int) -> Generator[None]:
    """Let the collector rest meanwhile; below a thousand things nothing is done.

    It would look through all that is there again and again while it grows, which takes half of the
    time. What has been made counts as old afterwards, so that it is looked through when the process
    has grown by a quarter once more, and not at once.
    """
    if count < _MANY or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        if not gc.get_freeze_count():  # what somebody has frozen stays so
            gc.freeze()
            gc.unfreeze()
        gc.enable()


def length_or_zero(items: Any) -> int:
    """How many things are in a list of a document; 0 where that is none."""
    return len(cast("Sequence[Any]", items)) if isinstance(items, (list, tuple)) else 0
