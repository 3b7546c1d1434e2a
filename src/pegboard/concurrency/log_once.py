"""Telling the operator why foreign code failed: once, with its stack."""

import logging
from collections import OrderedDict

_MAX_REMEMBERED = 200
_logged: OrderedDict[tuple[str, str, str], None] = OrderedDict()


def log_once(log: logging.Logger, what: str, error: BaseException) -> None:
    """Log an error with its stack: a warning the first time, afterwards for debugging alone.

    What fails is tried again and again, and a log that repeats itself is not read.

    Args:
        log: Where to.
        what: What failed, in words.
        error: Why.
    """
    key = (what, type(error).__name__, str(error))
    is_new = key not in _logged
    _logged[key] = None
    _logged.move_to_end(key)
    if len(_logged) > _MAX_REMEMBERED:
        _logged.popitem(last=False)
    log.log(logging.WARNING if is_new else logging.DEBUG, "%s", what, exc_info=error)
