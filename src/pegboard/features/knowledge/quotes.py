"""Finds what stands word for word in a deleted document, and takes it out of texts."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

REMOVED = "[removed: the document was deleted]"
"""Stands in place of a quote."""
MIN_WORDS = 8
"""From how many words in a row on a text quotes a document, unless the whole quote is shorter."""
_MIN_SHORT = 4
_WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]|[^\W_]+")


class QuoteFinder:
    """Knows a document by all that stands in it, eight words at a time.

    Case, punctuation and white space make no difference. A Chinese, Japanese or Korean character
    counts as a word.

    Args:
        texts: The texts of the document, and the quotes that were shown of it.
    """

    def __init__(self, texts: Iterable[str]) -> None:
        self._known: dict[int, set[int]] = {}
        for text in texts:
            words = [match.group().casefold() for match in _WORD.finditer(text)]
            if len(words) >= _MIN_SHORT:
                length = min(len(words), MIN_WORDS)
                self._known.setdefault(length, set()).update(_hash_rows(words, length))

    def redact(self, text: str) -> str:
        """A text without what it quotes; its other words stay."""
        matches = [*_WORD.finditer(text)]
        words = [match.group().casefold() for match in matches]
        quoted = [False] * len(words)
        for length, known in self._known.items():
            for at, row in enumerate(_hash_rows(words, length)):
                if row in known:
                    quoted[at : at + length] = [True] * length
        parts: list[str] = []
        end = at = 0
        while at < len(words):
            if not quoted[at]:
                at += 1
                continue
            first = at
            while at < len(words) and quoted[at]:
                at += 1
            parts += [text[end : matches[first].start()], REMOVED]
            end = matches[at - 1].end()
        return "".join([*parts, text[end:]])

    def redact_data(self, value: Any) -> Any:
        """JSON-compatible data without what its strings quote."""
        if isinstance(value, str):
            return self.redact(value)
        if isinstance(value, Mapping):
            items = cast("Mapping[str, Any]", value).items()
            return {key: self.redact_data(item) for key, item in items}
        if isinstance(value, (list, tuple)):
            return [self.redact_data(item) for item in cast("Sequence[Any]", value)]
        return value


def _hash_rows(words: Sequence[str], length: int) -> Iterator[int]:
    """The hashes of each so many words in a row."""
    for at in range(len(words) - length + 1):
        yield hash(tuple(words[at : at + length]))
