"""What history shows of a call: one JSON-compatible row, the same in every storage."""

import json
from collections.abc import Callable
from typing import Any

from msgspec import Struct
from msgspec.structs import replace

from pegboard.core.event import CallRecord, CallStarted, record_to_dict
from pegboard.core.principal import Principal

Redact = Callable[[str], str]
"""Takes secrets out of a text."""

UNKNOWN = "unknown"
MAX_TEXT = 65_536
_SMALL = 4_096
_FREE_TEXT = ("reason", "error_message")


def unchanged(text: str) -> str:
    """A `Redact` for a board that has no secrets."""
    return text


class Frozen(Struct, frozen=True, kw_only=True):
    """A record that nobody can change any more, kept until there is time to write it.

    Attributes:
        digest: Of the arguments; None when they are small text, still in the record.
        arguments: Their JSON text when it is to be stored and is no longer in the record.
    """

    record: CallRecord
    digest: str | None = None
    arguments: str | None = None


def freeze(record: CallRecord, *, keep_arguments: bool) -> Frozen:
    """Take what is needed of arguments that may change or are large; the rest can wait."""
    arguments = record.arguments
    if arguments is None or (isinstance(arguments, (str, bytes)) and len(arguments) <= _SMALL):
        return Frozen(record=record)
    return Frozen(
        record=replace(record, arguments=None),
        digest=_digest(record),
        arguments=_text(arguments) if keep_arguments else None,
    )


def call_row(frozen: Frozen, *, keep_arguments: bool, redact: Redact) -> dict[str, Any]:
    """A finished call as history shows it."""
    record = frozen.record
    digest = _digest(record) if frozen.digest is None else frozen.digest
    row = record_to_dict(record, digest=digest)
    for name in _FREE_TEXT:
        row[name] = redact(row[name])
    if keep_arguments:
        text = _text(record.arguments) if frozen.arguments is None else frozen.arguments
        row["arguments"] = redact(text)[:MAX_TEXT]
    return _clean(row)


def start_row(event: CallStarted) -> dict[str, Any]:
    """A write that has started, as history shows it until its record comes."""
    record = CallRecord(
        call_id=event.call_id,
        tool=event.tool,
        status=UNKNOWN,
        started_at=event.started_at,
        duration_ms=0.0,
        principal=Principal(id=event.principal, tenant=event.tenant),
        version=event.version,
        source=event.source,
        effect=event.effect,
        reason="started, outcome unknown",
        run_id=event.run_id,
        parent_id=event.parent_id,
    )
    return _clean(record_to_dict(record, digest=event.arguments_digest))


def detail_row(record: CallRecord, redact: Redact) -> dict[str, Any]:
    """What the operator finds under the record's error id."""
    return _clean(
        {
            "error_id": record.error_id,
            "call_id": record.call_id,
            "tool": record.tool,
            "source": record.source,
            "at": record.started_at,
            "code": record.error_code,
            "message": redact(record.error_message),
            "detail": redact(record.error_detail)[:MAX_TEXT],
        }
    )


def clean_text(text: str) -> str:
    """The text as valid UTF-8: half of a surrogate pair, as broken JSON carries it, is spelt out.

    SQLite and JSON cannot keep it otherwise.
    """
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode("utf-8")


def _clean(row: dict[str, Any]) -> dict[str, Any]:
    for name, value in row.items():
        if isinstance(value, str) and not value.isascii():
            row[name] = clean_text(value)
    return row


def _digest(record: CallRecord) -> str:
    try:
        return record.arguments_digest
    except (TypeError, ValueError, RecursionError):
        return ""  # no canonical JSON exists: the call was refused for it, and is still recorded


def _text(arguments: Any) -> str:
    if arguments is None:
        return ""
    if isinstance(arguments, str):
        return arguments
    if isinstance(arguments, (bytes, bytearray)):
        return arguments.decode("utf-8", "backslashreplace")
    try:
        return json.dumps(arguments, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return ""  # as for the digest
