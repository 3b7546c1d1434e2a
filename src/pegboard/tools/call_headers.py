"""Headers with fields of the call, as in `X-Request-Id: "{call.id}"`.

The caller is not a field: its identity belongs to credentials.
"""

import hashlib
import re
from collections.abc import Callable, Mapping
from typing import Any
from urllib.parse import quote

from pegboard.core.context import ToolContext

Context = ToolContext[Any]
_FIELD = re.compile(r"\{call\.([^{}]*)\}")
_PRINTABLE = "".join(map(chr, range(0x20, 0x7F)))
_MAX_VALUE = 200
_MIN_LITERAL = 8
"""Shorter pieces of a text stand in too many others to be hidden wherever they do."""


def _idempotency_key(ctx: Context) -> str:
    """The caller's key as the other side may see it: no two callers share one there."""
    if not ctx.idempotency_key:
        return ""
    who = ctx.principal
    parts = (who.tenant, who.kind, who.id, ctx.tool, ctx.idempotency_key)
    return hashlib.sha256(repr(parts).encode()).hexdigest()[:32]


_FIELDS: Mapping[str, Callable[[Context], str]] = {
    "id": lambda ctx: ctx.call_id,
    "parent_id": lambda ctx: ctx.parent_id,
    "run_id": lambda ctx: ctx.run_id,
    "tool": lambda ctx: ctx.tool,
    "idempotency_key": _idempotency_key,
}


def check_text(text: str) -> str:
    """Check that a header text names only existing fields, and return it.

    Raises:
        ValueError: It does; says what there is.
    """
    for name in _FIELD.findall(text):
        if name not in _FIELDS:
            known = ", ".join(f"{{call.{field}}}" for field in _FIELDS)
            raise ValueError(f"there is no {{call.{name[:50]}}}; known are {known}")
    return text


def is_of_call(text: str) -> bool:
    """Whether the text is a single field, so that nothing in it is secret."""
    return _FIELD.fullmatch(text) is not None


class CallHeaders:
    """Headers by name, with `{call.NAME}` fields in some of their texts.

    ```python
    headers = CallHeaders({"X-Team": "blue", "X-Request-Id": "{call.id}"})
    headers.of(ctx)
    ```

    Args:
        headers: Texts by name, checked.

    Attributes:
        fixed: Those that are the same for every call.
        varies: Whether there are others.
        names: Of all.
    """

    def __init__(self, headers: Mapping[str, str]) -> None:
        self._varying = {name: text for name, text in headers.items() if _FIELD.search(text)}
        self.fixed = {name: text for name, text in headers.items() if name not in self._varying}
        self.varies = bool(self._varying)
        self.names = frozenset(headers)

    @property
    def literals(self) -> tuple[str, ...]:
        """The literal texts, which a response might repeat."""
        pieces = [piece for text in self._varying.values() for piece in _FIELD.split(text)[::2]]
        return (*self.fixed.values(), *(item for item in pieces if len(item) >= _MIN_LITERAL))

    def for_call(self, ctx: Context | None) -> Mapping[str, str]:
        """All headers of a call; those with an empty field are left out.

        Args:
            ctx: The call; None for what belongs to none, such as a list.
        """
        if not self.varies:
            return self.fixed
        return self.fixed | self.varying(ctx)

    def varying(self, ctx: Context | None) -> dict[str, str]:
        """The headers with fields of this call."""
        if ctx is None:
            return {}
        filled = {name: _fill(text, ctx) for name, text in self._varying.items()}
        return {name: text for name, text in filled.items() if text is not None}


def _fill(text: str, ctx: Context) -> str | None:
    values = {name: _FIELDS[name](ctx) for name in _FIELD.findall(text)}
    if not all(values.values()):
        return None
    return _FIELD.sub(lambda found: quote(values[found[1]][:_MAX_VALUE], safe=_PRINTABLE), text)
