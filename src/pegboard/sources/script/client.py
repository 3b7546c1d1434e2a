"""Turns the exit code and output of a script into a result or an error."""

import json
import mimetypes
import signal
from codecs import BOM_UTF8
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from pegboard.core.ports.sandbox import SandboxJob, SandboxOutcome
from pegboard.core.result import Artifact, TextPart, ToolResult
from pegboard.core.text.truncate import truncate
from pegboard.errors import (
    InvalidRequest,
    PegboardError,
    SourceUnavailable,
    ToolFailed,
    ToolTimeout,
    Unavailable,
)
from pegboard.schemas.strict_json import decode
from pegboard.sources.script.description import Description, Outcome
from pegboard.tools.results import wrap

SYSEXITS: Mapping[int, Outcome] = {
    0: "ok",
    64: "invalid",  # EX_USAGE
    65: "invalid",  # EX_DATAERR
    69: "unavailable",  # EX_UNAVAILABLE
    75: "unavailable",  # EX_TEMPFAIL
}
"""What exit codes mean unless a description says otherwise; all others are failures."""

_MAX_FILES = 100
_MAX_FILE_BYTES = 64 * 1024 * 1024
_SHOWN_LINES = 5
MAX_MESSAGE = 1_000
"""Characters of the public message of a script that failed; the rest is in the history."""

_MIN_SECRET = 8
_MASK = "***"
_MAX_WAIT = 86_400
_FOR_THE_OPERATOR = 8_000


def result_of(
    name: str,
    description: Description,
    job: SandboxJob,
    outcome: SandboxOutcome,
    *,
    made: Path | None,
) -> ToolResult:
    """The result of a script that has ended.

    Args:
        name: The tool in messages.
        description: How to read the output.
        job: The job, for its limits.
        outcome: How it ended.
        made: The folder with the files that it made; None when it makes none.

    Raises:
        InvalidRequest: Its exit code means invalid arguments.
        Unavailable: Its exit code means that a retry may help.
        ToolTimeout: It took too long.
        ToolFailed: It failed in another way.
    """
    _refuse_stopped(name, job, outcome)
    meanings: dict[int, Outcome] = {**SYSEXITS, **description.exit_codes}
    meaning = meanings.get(outcome.exit_code, "failed")
    if meaning != "ok":
        raise _exit_error(name, description, job, outcome, meaning) from _detail(job, outcome)
    value = wrap(_value(name, description, job, outcome))
    return value if made is None else _with_files(value, made)


def _refuse_stopped(name: str, job: SandboxJob, outcome: SandboxOutcome) -> None:
    match outcome.stopped:
        case "":
            return
        case "timeout":
            error: PegboardError = ToolTimeout(
                f"'{name}' did not finish within {job.limits.timeout:g} s and was stopped"
            )
        case "memory":
            mb = job.limits.memory_bytes // (1024 * 1024)
            error = ToolFailed(f"'{name}' needed more memory than its limit of {mb} MB.")
        case "cpu":
            error = ToolFailed(f"'{name}' used more processor time than its limit.")
        case other:
            error = ToolFailed(f"'{name}' was stopped ({other}).")
    raise error from _detail(job, outcome)


def _exit_error(
    name: str,
    description: Description,
    job: SandboxJob,
    outcome: SandboxOutcome,
    meaning: Outcome,
) -> PegboardError:
    message, retry_after = _error_message(outcome.stdout)
    if not message and description.show_stderr:
        message = "\n".join(_text(outcome.stderr).strip().splitlines()[-_SHOWN_LINES:])
    message = truncate(_mask(message, job).strip(), MAX_MESSAGE)
    match meaning:
        case "invalid":
            return InvalidRequest(message or f"'{name}' does not take these arguments.")
        case "unavailable":
            return Unavailable(message or f"'{name}' is not available now", retry_after=retry_after)
        case _:
            return ToolFailed(message or f"'{name}' {_describe_exit(outcome.exit_code)}.")


def _error_message(stdout: bytes) -> tuple[str, float | None]:
    """The public message of a failed script: `{"error": {"message": "Closed on Sundays."}}`."""
    try:
        value = json.loads(stdout)
    except (ValueError, RecursionError):
        return "", None
    error = cast("dict[str, Any]", value).get("error") if isinstance(value, dict) else None
    if not isinstance(error, dict):
        return "", None
    said = cast("dict[str, Any]", error)
    message, later = said.get("message"), said.get("retry_after")
    return (message if isinstance(message, str) else "", _seconds(later))


def _seconds(value: Any) -> float | None:
    is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return float(value) if is_number and 0 < value < _MAX_WAIT else None


def _describe_exit(code: int) -> str:
    if code > 128 and code - 128 in {item.value for item in signal.Signals}:
        return f"was ended by {signal.Signals(code - 128).name}"
    return f"failed with exit code {code}"


def _value(name: str, description: Description, job: SandboxJob, outcome: SandboxOutcome) -> Any:
    limit = job.limits.output_bytes
    is_cut = outcome.stdout_bytes > limit
    if description.output == "text":
        text = _text(outcome.stdout).removesuffix("\n")
        if is_cut:
            return f"{text}\n[cut: {outcome.stdout_bytes} bytes in all]"
        return text
    if is_cut:
        raise ToolFailed(f"'{name}' printed more than {limit} bytes; ask it for less.")
    if not outcome.stdout.strip():
        return None
    try:
        return decode(outcome.stdout.removeprefix(BOM_UTF8))
    except ValueError as error:
        raise ToolFailed(
            f"'{name}' did not print JSON. If it prints text, its description says 'output: text'."
        ) from _detail(job, outcome, error)


def _with_files(result: ToolResult, folder: Path) -> ToolResult:
    """Add the files in the folder itself as artifacts; links are not followed."""
    artifacts: list[Artifact] = []
    room = _MAX_FILE_BYTES
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or not path.is_file():
            continue
        size = path.stat().st_size
        room -= size
        if room < 0 or len(artifacts) == _MAX_FILES:
            raise ToolFailed(
                f"It made more than {_MAX_FILES} files or {_MAX_FILE_BYTES // 2**20} MB of them."
            )
        media_type = mimetypes.guess_type(path.name)[0] or "application/octet-stream"
        artifacts.append(
            Artifact(name=path.name, media_type=media_type, size=size, data=path.read_bytes())
        )
    if not artifacts:
        return result
    named = [f"[file {item.name}, {item.media_type}, {item.size} bytes]" for item in artifacts]
    said = [] if result.structured is None else [result.text]
    return ToolResult(
        content=tuple(TextPart(text=text) for text in (*said, *named)),
        structured=result.structured,
        artifacts=tuple(artifacts),
    )


def _detail(job: SandboxJob, outcome: SandboxOutcome, cause: Exception | None = None) -> Exception:
    """The detail for the operator: the exit code and the end of the output."""
    out, err = (
        _mask(_text(data), job)[-_FOR_THE_OPERATOR:] for data in (outcome.stdout, outcome.stderr)
    )
    detail = RuntimeError(f"exit code {outcome.exit_code}; stderr: {err}; stdout: {out}")
    detail.__cause__ = cause
    return detail


def _mask(text: str, job: SandboxJob) -> str:
    """Hide the values of the script's environment variables."""
    for value in sorted(set(job.environment.values()), key=len, reverse=True):
        if len(value) >= _MIN_SECRET:
            text = text.replace(value, _MASK)
    return text


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def unusable_error(name: str, reason: str) -> SourceUnavailable:
    """The error for a call of a script that cannot be used."""
    return SourceUnavailable(f"'{name}' cannot be used: {reason}", permanent=True)
