"""Who is told when what exists changes."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal

ChangeKind = Literal["tools", "resources", "prompts", "resource"]
Told = Callable[[ChangeKind, str], None]


class Changes:
    """Tells listeners what kind of thing changed, at once and on the thread where it happened.

    A listener returns at once and raises nothing: what takes time belongs in a task of its own.
    """

    def __init__(self) -> None:
        self._listeners: tuple[Told, ...] = ()
        self._held: dict[tuple[ChangeKind, str], None] | None = None

    def listen(self, told: Told) -> Callable[[], None]:
        """Be told of each change until the returned function is called.

        Args:
            told: Given the kind, and for `resource` the board's URI of the one whose contents
                changed; an empty text otherwise.
        """
        self._listeners = (*self._listeners, told)

        def stop() -> None:
            self._listeners = tuple(item for item in self._listeners if item is not told)

        return stop

    def tell(self, kind: ChangeKind, uri: str = "") -> None:
        """Something changed."""
        if self._held is not None:
            self._held[kind, uri] = None
            return
        for told in self._listeners:
            told(kind, uri)

    @contextmanager
    def together(self) -> Generator[None]:
        """Tell of many changes at the end and of each kind once, also when something went wrong."""
        if self._held is not None:  # it is within another that does
            yield
            return
        self._held = {}
        try:
            yield
        finally:
            held, self._held = self._held, None
            for kind, uri in held:
                self.tell(kind, uri)
