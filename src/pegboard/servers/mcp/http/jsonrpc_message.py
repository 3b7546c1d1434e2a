"""What a body must be to be one message of JSON-RPC 2.0, and the words for what it is not.

The SDK takes a request whose id is none for a notification, which nobody answers: whoever sent it
would wait. Its other refusals hold a parser's text, or nothing.
"""

from dataclasses import dataclass
from typing import Any

import msgspec
from mcp_types import INVALID_REQUEST, PARSE_ERROR, RequestId

from pegboard.errors import shortened_name

LONGEST_ID = 1_000
"""Characters of an id: it comes back in every answer, and is kept until the last."""

NO_JSON = "Parse error: the body is not JSON, which has no NaN and no half of a surrogate pair"
TOO_DEEP = "Parse error: the body is nested too deeply"
TOO_LONG_NUMBER = "Parse error: a number in the body is too large"
NO_UTF8 = "Parse error: the body is not UTF-8"
BATCH = "A batch is not taken: send each message in a request of its own"
NO_OBJECT = "The body is not one message of JSON-RPC 2.0: it must be an object"
ID = f"The id of a request is a text or a whole number, of at most {LONGEST_ID:,} characters"

_NOTHING = (b"", b"null")


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """What is wrong with a message.

    Attributes:
        code: Of JSON-RPC.
        message: What to change.
        request_id: Of the request, if that could be read.
    """

    code: int
    message: str
    request_id: RequestId | None = None


class _Envelope(msgspec.Struct):
    """What every message has; what is in it is for the SDK."""

    jsonrpc: Any = msgspec.UNSET
    id: Any = msgspec.UNSET
    method: Any = msgspec.UNSET
    params: msgspec.Raw = msgspec.Raw(b"null")
    result: msgspec.Raw = msgspec.Raw()
    error: msgspec.Raw = msgspec.Raw()


def fault_of(body: bytes) -> Fault | None:
    """What keeps a body from being one message; None where nothing does."""
    try:
        message = msgspec.json.decode(body, type=_Envelope)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        return _unread(body, error)
    has_id = is_id(message.id)
    said = _said(message, has_id=has_id)
    if said is None:
        return None
    return Fault(code=INVALID_REQUEST, message=said, request_id=message.id if has_id else None)


def is_id(value: Any) -> bool:
    """Whether a request may have this as its id."""
    if isinstance(value, bool):
        return False
    if isinstance(value, str):
        return len(value) <= LONGEST_ID
    return isinstance(value, int) and abs(value) < 10**LONGEST_ID


def _said(message: _Envelope, *, has_id: bool) -> str | None:
    if message.jsonrpc != "2.0":
        return 'The message must say "jsonrpc": "2.0"'
    is_answer = message.method is None and bool(_told(message))
    if message.method is msgspec.UNSET or is_answer:
        return _said_of_answer(message, has_id=has_id)
    return _said_of_request(message, has_id=has_id)


def _said_of_request(message: _Envelope, *, has_id: bool) -> str | None:
    if message.id is not msgspec.UNSET and not has_id:
        return f"{ID}, and not {_kind(message.id)}; a notification has none"
    if not isinstance(message.method, str):
        return "The method must be a text"
    if _told(message):
        return "A message has a method, or else a result or an error, and not both"
    if not _is_object(message.params) and bytes(message.params) != b"null":
        return f"The params of '{shortened_name(message.method)}' must be an object"
    return None


def _said_of_answer(message: _Envelope, *, has_id: bool) -> str | None:
    told = _told(message)
    if not bytes(message.result) and not bytes(message.error):
        return "The message has no method, and neither a result nor an error"
    if not has_id and (message.id is not None or message.result in told):
        return f"{ID}; an answer has that of its request"
    if len(told) > 1:
        return "An answer has a result or an error, not both"
    if not all(map(_is_object, told)) or not told:
        return "The result or error of an answer must be an object"
    return None


def _told(message: _Envelope) -> list[msgspec.Raw]:
    """The result and the error that are there: some write what is not there as null."""
    return [item for item in (message.result, message.error) if bytes(item) not in _NOTHING]


def _is_object(value: msgspec.Raw) -> bool:
    return bytes(value).startswith(b"{")


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    kinds = ((bool, "a boolean"), (int, "so large a number"), (float, "a fraction"))
    named = (*kinds, (str, "so long a text"), (list, "a list"))
    return next((name for kind, name in named if isinstance(value, kind)), "an object")


def _unread(body: bytes, error: Exception) -> Fault:
    """What is wrong with a body that is no object of JSON."""
    if isinstance(error, RecursionError):
        return Fault(code=PARSE_ERROR, message=TOO_DEEP)
    if isinstance(error, UnicodeDecodeError):
        return Fault(code=PARSE_ERROR, message=NO_UTF8)
    if not isinstance(error, msgspec.ValidationError):
        return Fault(code=PARSE_ERROR, message=NO_JSON)
    start = body.lstrip()[:1]
    if start == b"{":
        return Fault(code=PARSE_ERROR, message=TOO_LONG_NUMBER)
    try:
        msgspec.json.decode(body, type=msgspec.Raw)  # it may be no JSON further on
    except RecursionError:
        return Fault(code=PARSE_ERROR, message=TOO_DEEP)
    except (msgspec.DecodeError, UnicodeDecodeError):
        return Fault(code=PARSE_ERROR, message=NO_JSON)
    return Fault(code=INVALID_REQUEST, message=BATCH if start == b"[" else NO_OBJECT)
