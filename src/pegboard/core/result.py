"""`ToolResult`: the result of a call, the same for every kind of tool."""

from collections.abc import Mapping
from typing import Any

from msgspec import Struct

from pegboard import errors
from pegboard.errors import (
    ApprovalRequired,
    CredentialMissing,
    GraphInvalid,
    PegboardError,
    Problem,
    QuotaExceeded,
    StorageQuotaExceeded,
    ToolArgumentError,
    ToolFailed,
    UploadConflict,
)

RESULT_URI = "pegboard://results/"
"""What every handle of a stored result begins with."""

STORED_RESULT = "pegboard/stored-result"
"""The key of an MCP result's `_meta` under which a board names the handle of the whole result."""

WRAPPED_RESULT = "x-fastmcp-wrap-result"
"""Says in an MCP output schema that a value is sent as `{"result": value}`; FastMCP unwraps it."""


ERROR_KINDS: dict[str, type[PegboardError]] = {
    kind.code: kind
    for kind in vars(errors).values()
    if isinstance(kind, type) and issubclass(kind, PegboardError)
}
"""The classes of errors by their codes."""
_ERROR_FIELDS = {"retryable", "retry_after", "error_id", "approval_id", "link", "offset"} | {
    *("limit", "used", "unit", "resets_at"),
}


class TextPart(Struct, frozen=True, tag="text"):
    """Text for the model."""

    text: str


class ImagePart(Struct, frozen=True, tag="image"):
    """An image; `data` is the raw bytes."""

    data: bytes
    media_type: str


class AudioPart(Struct, frozen=True, tag="audio"):
    """A sound; `data` is the raw bytes."""

    data: bytes
    media_type: str


class ResourcePart(Struct, frozen=True, tag="resource"):
    """A resource by URI, with its text or raw bytes when they are included."""

    uri: str
    media_type: str = ""
    text: str | None = None
    data: bytes | None = None


class Artifact(Struct, frozen=True, kw_only=True):
    """A file that a call produced.

    Attributes:
        size: Bytes.
        handle: `pegboard://results/...`, accepted as an argument by other tools; empty while the
            data has not been stored.
        data: The bytes, until they are stored under the handle.
    """

    name: str
    media_type: str = "application/octet-stream"
    size: int = 0
    handle: str = ""
    data: bytes | None = None


Part = TextPart | ImagePart | AudioPart | ResourcePart


class CallTry(Struct, frozen=True, kw_only=True, omit_defaults=True, gc=False):
    """One of several tries of a call.

    Attributes:
        started_at: Unix seconds.
        error_code: Why it failed; empty for one that did not.
    """

    started_at: float
    duration_ms: float
    error_code: str = ""


class ResultMeta(Struct, frozen=True, kw_only=True, gc=False):
    """Metadata of a call.

    Attributes:
        duration_ms: Of the whole pipeline.
        attempts: The number of times the tool was started.
        cached: Whether the result came from the cache.
        replayed: Whether this is the first outcome of the same idempotency key.
        truncated: Whether `content` is only the first page of the result under `handle`.
        total_bytes: Size of the whole result when truncated.
        tokens: Consumed by models that took part, input and output together.
        cached_tokens: Of these, the ones that a provider read from its cache.
        cost: In US dollars, when known.
        tries: Each try, in order; empty for a call that was tried once.
        model: The model that took part, `provider:name`.
        untrusted: Whether the result may contain text of people whom the operator does not trust.
        account: The credential of a caller that it acted with, as `Credential.label` names it.
    """

    call_id: str = ""
    duration_ms: float = 0.0
    attempts: int = 0
    cached: bool = False
    replayed: bool = False
    truncated: bool = False
    handle: str = ""
    total_bytes: int = 0
    tokens: int | None = None
    cached_tokens: int = 0
    cost: float | None = None
    model: str = ""
    tries: tuple[CallTry, ...] = ()
    untrusted: bool = False
    account: str = ""


NO_META = ResultMeta()


class ToolResult(Struct, frozen=True, kw_only=True):
    """The result of a call.

    ```python
    result = await registry.call("letter_counter", {"word": "pear", "letter": "e"})
    result.unwrap()  # 1, or the typed error is raised
    ```

    Attributes:
        content: For the model: text, or typed parts.
        structured: The JSON value that matches the tool's output schema; None when there is none.
        error: The typed error when `is_error`; `str(error)` is safe to show to anyone.
    """

    content: str | tuple[Part, ...] = ""
    structured: Any = None
    artifacts: tuple[Artifact, ...] = ()
    is_error: bool = False
    error: PegboardError | None = None
    meta: ResultMeta = NO_META

    @property
    def text(self) -> str:
        """The textual content; parts that are not text are named in brackets."""
        if isinstance(self.content, str):
            return self.content
        return "\n".join(_text_of(part) for part in self.content)

    def unwrap(self) -> Any:
        """The structured value, else the text.

        Raises:
            PegboardError: The typed error of a failed call.
        """
        if self.is_error:
            raise self.error or ToolFailed(self.text or "The tool failed.")
        if self.structured is not None:
            return self.structured
        return None if self.content == "null" else self.content

    def to_dict(self) -> dict[str, Any]:
        """JSON-compatible data; bytes are base64, the error its safe part."""
        from msgspec import to_builtins

        data: dict[str, Any] = {
            "content": to_builtins(self.content),
            "structured": self.structured,
            "is_error": self.is_error,
            "meta": to_builtins(self.meta),
        }
        if self.artifacts:
            data["artifacts"] = [
                {key: value for key, value in to_builtins(item).items() if key != "data"}
                for item in self.artifacts
            ]
        if self.error is not None:
            data["error"] = error_to_dict(self.error)
        return data


def error_to_dict(error: PegboardError) -> dict[str, Any]:
    """The safe part of an error, the same for every door; never a cause or a stack."""
    data: dict[str, Any] = {
        "code": error.code,
        "message": str(error),
        "retryable": error.retryable,
    }
    if error.retry_after is not None:
        data["retry_after"] = round(error.retry_after, 3)
    if error.error_id is not None:
        data["error_id"] = error.error_id
    if isinstance(error, ApprovalRequired) and error.approval_id:
        data["approval_id"] = error.approval_id
    if isinstance(error, CredentialMissing) and error.link:
        data["link"] = error.link
    if isinstance(error, QuotaExceeded):
        data |= {"limit": error.limit, "used": error.used, "resets_at": error.resets_at}
    if isinstance(error, UploadConflict):
        data["offset"] = error.offset
    if isinstance(error, StorageQuotaExceeded):
        data |= {"limit": error.limit, "used": error.used, "unit": error.unit}
    if isinstance(error, (ToolArgumentError, GraphInvalid)):
        data["problems"] = [
            {"path": item.path, "message": item.message, "kind": item.kind}
            for item in error.problems
        ]
    return data


def restore_error(kind: type[PegboardError], data: Mapping[str, Any]) -> PegboardError:
    """An error from its safe part, with the fields that stand in it."""
    error = kind.__new__(kind, data["message"])  # its sentence is complete
    for name in _ERROR_FIELDS & data.keys():
        setattr(error, name, data[name])
    if "problems" in data:
        problems = tuple(Problem(**problem) for problem in data["problems"])
        setattr(error, "problems", problems)  # noqa: B010 - several classes have them
    return error


def _text_of(part: Part) -> str:
    match part:
        case TextPart():
            return part.text
        case ImagePart() | AudioPart():
            return f"[{part.media_type}, {len(part.data)} bytes]"
        case ResourcePart():
            return part.text if part.text is not None else f"[{part.uri}]"
