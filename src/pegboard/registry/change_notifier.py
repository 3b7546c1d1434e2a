"""Notify listeners of changes of the registry."""

from collections.abc import Callable, Generator
from contextlib import contextmanager
from typing import Literal

ChangeKind = Literal["tools", "resources", "prompts", "resource"]
ChangeListener = Callable[[ChangeKind, str], None]


class ChangeNotifier:
    """Notifies listeners of each change, immediately and on the thread of the change.

    A listener must return quickly and raise nothing; slow work belongs in a task of its own.
    """

    def __init__(self) -> None:
        self._listeners: tuple[ChangeListener, ...] = ()
        self._held: dict[tuple[ChangeKind, str], None] | None = None

    def listen(self, listener: ChangeListener) -> Callable[[], None]:
        """Add a listener; call the returned function to remove it.

        Args:
            listener: Receives the kind and, for `resource`, the board URI of the resource whose
                contents changed; otherwise an empty text.
        """
        self._listeners = (*self._listeners, listener)

        def stop() -> None:
            self._listeners = tuple(item for item in self._listeners if item is not listener)

        return stop

    def notify(self, kind: ChangeKind, uri: str = "") -> None:
        """Notify all listeners of a change."""
        if self._held is not None:
            self._held[kind, uri] = None
            return
        for listener in self._listeners:
            listener(kind, uri)

    @contextmanager
    def together(self) -> Generator[None]:
        """Collect changes, and notify of each kind once at the end, also after an error."""
        if self._held is not None:  # the outer one notifies
            yield
            return
        self._held = {}
        try:
            yield
        finally:
            held, self._held = self._held, None
            for kind, uri in held:
                self.notify(kind, uri)
