"""Texts of documents that were read last, so that a question does not read them again."""

import threading
from collections import OrderedDict
from collections.abc import Mapping

from pegboard.core.knowledge import ConvertedDocument

MAX_BYTES = 64 * 2**20
"""Of the stored texts; in memory they take about twice as much."""

TextKey = tuple[str, int]
"""A document, and the revision of its text."""


class TextCache:
    """Texts by document and revision, as of a count of deletions. Safe for several threads.

    Whatever is deleted anywhere makes it empty, so that no text outlives its document here.
    """

    def __init__(self, *, max_bytes: int = MAX_BYTES) -> None:
        """Start empty."""
        self._max_bytes = max_bytes
        self._lock = threading.Lock()
        self._changes = 0
        self._bytes = 0
        self._texts: OrderedDict[TextKey, tuple[ConvertedDocument, int]] = OrderedDict()

    def find(self, revisions: Mapping[str, int], changes: int) -> dict[str, ConvertedDocument]:
        """The texts that are here, by document, if nothing was deleted since they were read."""
        found: dict[str, ConvertedDocument] = {}
        with self._lock:
            self._advance(changes)
            for key in revisions.items():
                if changes == self._changes and key in self._texts:
                    self._texts.move_to_end(key)
                    found[key[0]] = self._texts[key][0]
        return found

    def add(self, key: TextKey, text: ConvertedDocument, size: int, changes: int) -> None:
        """Keep a text that was read after these deletions; older ones make room for it."""
        with self._lock:
            self._advance(changes)
            if changes != self._changes or size > self._max_bytes or key in self._texts:
                return
            self._texts[key] = text, size
            self._bytes += size
            while self._bytes > self._max_bytes:
                _, (_, oldest) = self._texts.popitem(last=False)
                self._bytes -= oldest

    def advance(self, changes: int) -> None:
        """Drop everything if there were more deletions than it knows of."""
        with self._lock:
            self._advance(changes)

    def _advance(self, changes: int) -> None:
        if changes > self._changes:
            self._changes, self._bytes = changes, 0
            self._texts.clear()
