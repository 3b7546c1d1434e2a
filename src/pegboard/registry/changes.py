"""Who is told when what exists changes."""

from collections.abc import Callable
from typing import Literal

ChangeKind = Literal["tools", "resources", "prompts", "resource"]
Told = Callable[[ChangeKind, str], None]


class Changes:
    """Tells listeners what kind of thing changed, at once and on the thread where it happened.

    A listener returns at once and raises nothing: what takes time belongs in a task of its own.
    """

    def __init__(self) -> None:
        self._listeners: tuple[Told, ...] = ()

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
        for told in self._listeners:
            told(kind, uri)
