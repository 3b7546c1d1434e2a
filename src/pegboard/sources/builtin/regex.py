"""Regular expressions in linear time (RE2)."""

import time
from collections.abc import Iterator
from functools import lru_cache
from typing import Any, cast

from pegboard.errors import InvalidRequest

_SECONDS = 2.0
_MEMORY = 8 << 20


class Pattern:
    """A compiled pattern.

    Args:
        pattern: RE2 syntax: Perl's without look-around and backreferences. `^` and `$` match at
            line ends.
        ignore_case: Whether upper and lower case are the same.
        literal: Whether the pattern is plain text.

    Raises:
        InvalidRequest: The pattern is malformed or too large.
    """

    def __init__(self, pattern: str, *, ignore_case: bool = False, literal: bool = False) -> None:
        self._compiled = _compile(pattern, ignore_case=ignore_case, literal=literal)

    @property
    def names(self) -> dict[str, int]:
        """The named groups and their numbers."""
        return dict(self._compiled.groupindex)

    def find_in(self, text: str) -> bool:
        """Whether the pattern occurs in a text."""
        return self._compiled.search(text) is not None

    def matches(self, text: str) -> Iterator[Any]:
        """Yield each match from left to right, like `re.finditer`.

        Raises:
            InvalidRequest: It takes too long, because many matches each look far ahead.
        """
        deadline = time.monotonic() + _SECONDS
        for match in self._compiled.finditer(text):
            yield match
            if time.monotonic() > deadline:
                raise InvalidRequest("The pattern takes too long on this text; make it simpler.")


@lru_cache(maxsize=64)
def _compile(pattern: str, *, ignore_case: bool, literal: bool) -> Any:
    import re2 as untyped

    re2 = cast("Any", untyped)
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _MEMORY
    options.case_sensitive = not ignore_case
    options.literal = literal
    try:
        # RE2 has no option for lines in its default syntax: the flag is part of the pattern.
        return re2.compile(pattern if literal else f"(?m){pattern}", options)
    except re2.error as error:
        reason = error.args[0].decode() if error.args else "not understood"
        raise InvalidRequest(
            f"The pattern is not valid: {reason.removeprefix('(?m)')}. "
            "Look-around and backreferences are not supported."
        ) from error
