"""One mask for a board's secrets, shared by everything that writes, and kept up with reloads."""

from collections.abc import Callable, Iterable

from pegboard.execution.results.redaction import redactor


class SecretMask:
    """Takes the secrets of a board out of text.

    Those of the board before a reload too: what was said before may still quote them.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: dict[str, None] = {}
        self._redact: Callable[[str], str] | None = None
        self.use(secrets)

    def use(self, secrets: Iterable[str]) -> None:
        """Mask these too, from now on."""
        self._secrets.update(dict.fromkeys(secrets))
        self._redact = redactor(tuple(self._secrets))

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        return text if self._redact is None else self._redact(text)

    @property
    def for_calls(self) -> Callable[[str], str] | None:
        """For the steps of a call: None while there is nothing to mask, which costs nothing."""
        return None if self._redact is None else self
