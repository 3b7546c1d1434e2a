"""Which argument may write which names into a query, a cookie or a form.

An object that unfolds into `name=value` pieces names them itself. It must not set another
parameter, a hidden argument, the credential or what the path's own query says: servers take the
first or the last of two pieces with one name, and some read `owner[]`, `OWNER` or `owner%00` as
`owner`.
"""

import re
from collections.abc import Iterable
from typing import Any
from urllib.parse import unquote_plus

from pegboard.errors import InvalidRequest
from pegboard.sources.openapi.document.lenient_access import mapping

_BASE = re.compile(r"[\[\0]")
_SAME = re.compile(r"[ .+\[]")


class PieceNames:
    """The names of one location of a request, and the arguments that they belong to."""

    def __init__(self) -> None:
        self._owners: dict[str, set[str]] = {}
        self._bases: dict[str, set[str]] = {}
        self._stems: dict[str, set[str]] = {}

    def claim(self, name: str, *, owner: str) -> None:
        """Reserve a name for an argument; empty for the operator."""
        self._owners.setdefault(_canonical(name), set()).add(owner)
        self._bases.setdefault(_base(name), set()).add(owner)
        for stem in _stems(name):
            self._stems.setdefault(stem, set()).add(owner)

    def claim_parameter(self, name: str, schema: Any, *, owner: str) -> None:
        """Reserve the name of a parameter, and the properties that its schema names."""
        self.claim(name, owner=owner)
        for key in mapping(mapping(schema).get("properties")):
            self.claim(key, owner=owner)

    def check(self, pieces: Iterable[str], *, owner: str, name: str) -> None:
        """Check the pieces that the value of an argument has become.

        Args:
            pieces: `name=value`, with percent-encoding.
            owner: The argument.
            name: Its parameter.

        Raises:
            InvalidRequest: A piece has a name that belongs to something else.
        """
        own = _base(name)
        for piece in pieces:
            written = unquote_plus(piece.partition("=")[0])
            if written == name:
                continue
            others = self._owners.get(_canonical(written), set())
            others = others | self._stems.get(_canonical(written), set())
            others = others.union(*(self._owners.get(stem, ()) for stem in _stems(written)))
            if _base(written) != own:
                others = others | self._bases.get(_base(written), set())
            if others - {owner}:
                raise InvalidRequest(
                    f"'{owner}' must not have '{written[:100]}': that name belongs to another "
                    "argument, or to the operator."
                )

    def check_plain(self, *, owner: str, name: str) -> None:
        """Check that a plain value does not stand in the place of an object with other names.

        Servers read `f=x` instead of `f[owner]=acme`, or the other way round.

        Raises:
            InvalidRequest: Names inside of the object belong to something else.
        """
        if self._bases.get(_base(name), set()) - {owner}:
            raise InvalidRequest(
                f"'{owner}' must be an object: names inside of '{name}' belong to another "
                "argument, or to the operator."
            )


def _canonical(name: str) -> str:
    """A name as the most lenient server reads it."""
    name = name.partition("\0")[0].strip().casefold()
    return _SAME.sub("_", name.removesuffix("[]")).replace("]", "")


def _base(name: str) -> str:
    return _canonical(_BASE.split(name, maxsplit=1)[0])


def _stems(name: str) -> list[str]:
    """What stands before each bracket but the first: `a[b]` and `a[b][c]` of `a[b][c][d]`."""
    name = name.partition("\0")[0]
    return [_canonical(name[: match.start()]) for match in re.finditer(r"\[", name)][1:]
