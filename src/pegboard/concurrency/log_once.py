"""Logging of repeated failures: once as a warning, with the stack."""

import logging
from collections import OrderedDict

_MAX_REMEMBERED = 200
_logged: OrderedDict[tuple[str, str, str], None] = OrderedDict()


def log_once(log: logging.Logger, what: str, error: BaseException) -> None:
    """Log an error with its stack: as a warning the first time, then at the debug level.

    Args:
        log: The logger.
        what: The component and what failed, as text.
        error: The cause.
    """
    key = (what, type(error).__name__, str(error))
    is_new = key not in _logged
    _logged[key] = None
    _logged.move_to_end(key)
    if len(_logged) > _MAX_REMEMBERED:
        _logged.popitem(last=False)
    log.log(logging.WARNING if is_new else logging.DEBUG, "%s", what, exc_info=error)
