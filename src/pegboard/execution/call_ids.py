"""Ids for calls: unique everywhere, cheap, in order within a process."""

import itertools
import os
import secrets
from collections.abc import Callable, Iterator


class CallIds:
    """`c_` and 20 hex digits that name the process, then a counter."""

    def __init__(self, random_hex: Callable[[int], str] = secrets.token_hex) -> None:
        self._random_hex = random_hex
        self._prefix = ""
        self._counter: Iterator[int] = itertools.count(1)
        self.renew()

    def renew(self) -> None:
        """Start anew; a forked process must not go on with its parent's ids."""
        self._prefix = f"c_{self._random_hex(10)}_"
        self._counter = itertools.count(1)

    def __call__(self) -> str:
        """A new id."""
        return f"{self._prefix}{next(self._counter)}"


new_call_id = CallIds()
os.register_at_fork(after_in_child=new_call_id.renew)
