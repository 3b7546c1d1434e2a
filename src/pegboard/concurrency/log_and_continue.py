"""Error handling of background loops: log an unexpected error and continue."""

import logging
from collections.abc import Generator
from contextlib import contextmanager

from pegboard.concurrency.log_once import log_once


@contextmanager
def log_and_continue(log: logging.Logger, what: str) -> Generator[None]:
    """Run one round of a background loop; an unexpected error is logged, and the loop continues.

    Without it a background task would end silently. Expected errors are handled in the round.

    ```python
    while True:
        await asyncio.sleep(every)  # outside: a round that fails at once must not spin
        with log_and_continue(_LOG, "what other servers turn off is not seen"):
            await service.load()
    ```

    Args:
        log: The logger; each kind of failure is logged once with its stack.
        what: The component and what failed, as text.
    """
    try:
        yield
    except Exception as error:  # noqa: BLE001 - the task's one door: it is logged, the next round comes
        log_once(log, what, error)
