"""Masks a board's secrets, for everything that writes text."""

from collections.abc import Callable, Iterable

from pegboard.execution.results.redaction import make_redactor


class SecretMask:
    """Masks the secrets of a board in text.

    Secrets from before a reload stay masked, since earlier text may still quote them.
    """

    def __init__(self, secrets: Iterable[str] = ()) -> None:
        self._secrets: dict[str, None] = {}
        self._redact: Callable[[str], str] | None = None
        self.use(secrets)

    def use(self, secrets: Iterable[str]) -> None:
        """Mask these secrets too."""
        self._secrets.update(dict.fromkeys(secrets))
        self._redact = make_redactor(tuple(self._secrets))

    def __call__(self, text: str) -> str:
        """The text without secrets."""
        return text if self._redact is None else self._redact(text)

    @property
    def for_calls(self) -> Callable[[str], str] | None:
        """The mask for calls; None while there is nothing to mask."""
        return None if self._redact is None else self
