"""`RecordSnapshot`: an immutable copy of a call record, for listeners that write it later."""

import json
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pegboard.core.event import CallRecord, record_to_dict

_SMALL = 4_096


class RecordSnapshot(Struct, frozen=True, kw_only=True):
    """A record that may wait in a queue: the caller may change the arguments meanwhile.

    Attributes:
        record: Without arguments that are mutable or large.
        digest: Of the arguments; None when they are small text, still in the record.
        text: The arguments as text, when requested and no longer in the record.
    """

    record: CallRecord
    digest: str | None = None
    text: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """The result of `record_to_dict`, with text that SQLite, JSON and terminals accept."""
        digest = digest_of_record(self.record) if self.digest is None else self.digest
        row = record_to_dict(self.record, digest=digest)
        for name, value in row.items():
            if isinstance(value, str) and not value.isascii():
                row[name] = clean_text(value)
        return row

    @property
    def arguments(self) -> str:
        """The arguments as text, not redacted; empty when they were not requested."""
        text = text_of(self.record.arguments) if self.text is None else self.text
        return clean_text(text)


def freeze(record: CallRecord, *, keep_arguments: bool = False) -> RecordSnapshot:
    """Copy what is needed of arguments that are mutable or large."""
    arguments = record.arguments
    if arguments is None or (isinstance(arguments, (str, bytes)) and len(arguments) <= _SMALL):
        return RecordSnapshot(record=record)
    return RecordSnapshot(
        record=replace(record, arguments=None),
        digest=digest_of_record(record),
        text=text_of(arguments) if keep_arguments else "",
    )


def digest_of_record(record: CallRecord) -> str:
    """The digest of the arguments; empty when they have no canonical JSON."""
    try:
        return record.arguments_digest
    except (TypeError, ValueError, RecursionError):
        return ""


def text_of(arguments: Any) -> str:
    """Arguments as text: JSON unless they arrived as text; empty when they are not JSON."""
    if arguments is None:
        return ""
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, (bytes, bytearray)):
        return arguments.decode("utf-8", "backslashreplace")
    try:
        return json.dumps(arguments, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return ""


def clean_text(text: str) -> str:
    """The text as valid UTF-8: lone surrogates, as in broken JSON, are escaped."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")
