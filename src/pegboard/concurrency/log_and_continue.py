"""Work that is done again and again in the background: one failure must not be its last."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from pegboard.concurrency.log_once import log_once


@contextmanager
def log_and_continue(log: logging.Logger, what: str) -> Generator[None]:
    """Do one round of such work; what it did not foresee is logged, and the next round comes.

    A task that ends in an error that nobody awaits is silent: what it followed is followed no
    longer, and nobody knows. The round itself still handles what it foresees.

    ```python
    while True:
        await asyncio.sleep(every)  # outside: a round that fails at once must not spin
        with log_and_continue(_LOG, "what other servers turn off is not seen"):
            await service.load()
    ```

    Args:
        log: Where to; with the stack once for each kind of failure.
        what: What fails, in words.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the task's one door: it is logged, the next round comes
        log_once(log, what, error)
