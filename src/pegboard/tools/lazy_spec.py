"""The spec that a decorated function carries, built when somebody reads it."""

from collections.abc import Callable, Mapping
from typing import Any


def _reading(name: str) -> Any:
    """A method of dict that fills the spec before it looks."""
    inherited = getattr(dict, name)

    def method(self: "LazySpec", *args: Any, **kwargs: Any) -> Any:
        self.fill()
        return inherited(self, *args, **kwargs)

    method.__name__, method.__doc__ = name, inherited.__doc__
    return method


class LazySpec(dict[str, Any]):  # noqa: PLW1641 - a dict has no hash
    """The OpenAI format of a tool, as a dict that fills itself when it is first read.

    It is a dict to everything that asks it for its items, `json.dumps` and `dict(...)` included.
    Encoders written in C that look into a dict's memory (pydantic, msgspec, orjson) see what is
    there: read it first, or give them `dict(spec)`.
    """

    def __init__(self, make: Callable[[], Mapping[str, Any]]) -> None:
        super().__init__(type="function")
        self._make: Callable[[], Mapping[str, Any]] | None = make

    def fill(self) -> None:
        """Build it now; a second time does nothing."""
        if self._make is not None:
            made = self._make()  # two threads may both make it: they make the same
            super().update(made)
            self._make = None

    def __reduce__(self) -> Any:
        return dict, (dict(self),)

    def copy(self) -> dict[str, Any]:
        """A plain dict."""
        return dict(self)

    __getitem__ = _reading("__getitem__")
    __setitem__ = _reading("__setitem__")
    __delitem__ = _reading("__delitem__")
    __contains__ = _reading("__contains__")
    __iter__ = _reading("__iter__")
    __reversed__ = _reading("__reversed__")
    __len__ = _reading("__len__")
    __eq__ = _reading("__eq__")
    __ne__ = _reading("__ne__")
    __or__ = _reading("__or__")
    __ror__ = _reading("__ror__")
    __ior__ = _reading("__ior__")
    __repr__ = _reading("__repr__")
    get = _reading("get")
    keys = _reading("keys")
    values = _reading("values")
    items = _reading("items")
    pop = _reading("pop")
    popitem = _reading("popitem")
    setdefault = _reading("setdefault")
    update = _reading("update")
    clear = _reading("clear")
