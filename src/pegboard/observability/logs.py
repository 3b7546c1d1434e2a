"""Log lines for calls, steps of runs, runs, sources and the board."""

import json
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TextIO, cast

from msgspec import to_builtins

from pegboard.concurrency.background_queue import BackgroundQueue
from pegboard.core.event import (
    CallRecord,
    Event,
    Notice,
    RunEnded,
    RunRested,
    RunStarted,
    SourceChanged,
    StepEnded,
)
from pegboard.core.ports.clock import Clock, SystemClock
from pegboard.core.record_snapshot import RecordSnapshot, clean_text, freeze
from pegboard.observability.log_sinks import FileSink, Sink, StreamSink

_SYSTEM_CLOCK = SystemClock()
_LEVELS = {
    "completed": "info",
    "approval_needed": "info",
    "invalid": "warning",
    "denied": "warning",
    "cancelled": "warning",
    "in_progress": "info",
    "waiting": "info",
    "paused": "info",
    "skipped": "info",
}

_BECAUSE = "The above exception was the direct cause of the following exception:"
"""What `traceback` writes between the exception of a tool and ours."""

_OfRun = RunStarted | RunRested | RunEnded | StepEnded
_Entry = RecordSnapshot | SourceChanged | Notice | _OfRun
_Fact = tuple[float, _Entry]


def format_json(data: Mapping[str, Any]) -> str:
    """A line as JSON in printable ASCII."""
    # JSON leaves DEL as it is; all other control characters are escaped already.
    return json.dumps(data).replace("\x7f", "\\u007f")


class JsonLog:
    r"""Writes events as lines, on a thread of its own; as JSON by default.

    ```python
    log = JsonLog(Path("calls.jsonl"))
    registry = ToolRegistry([letter_counter], listeners=[log])
    ...
    log.close()
    ```

    A line has `time`, `level`, `event` (`call`, `run`, `step`, `source`, `server`, `board`, or
    `dropped`) and the keys of the record that are not empty. A call that another exception ended
    has its `stack`. On a board the end of a step or run
    has one line; its start and its suspension have one for each attempt. In JSON everything beyond
    printable ASCII is escaped, so that no value can forge a line, move a cursor or hide itself.
    """

    def __init__(
        self,
        target: TextIO | Path | str,
        *,
        redact: Callable[[str], str] | None = None,
        include_arguments: bool = False,
        max_waiting: int = 10_000,
        clock: Clock = _SYSTEM_CLOCK,
        line_format: Callable[[Mapping[str, Any]], str] = format_json,
    ) -> None:
        """Write to a stream, which is not closed, or append to a file.

        Args:
            target: A text stream, or the path of a file.
            redact: Removes secrets from each text before it is written.
            include_arguments: Whether lines contain the arguments, and not only their digest.
            max_waiting: Maximum number of queued lines; further ones are dropped, and their number
                is logged.
            clock: The clock.
            line_format: Formats the data of an event; empty text writes no line.

        Raises:
            ConfigError: The file cannot be written.
        """
        is_path = isinstance(target, (str, Path))
        self._sink: Sink = FileSink(Path(target)) if is_path else StreamSink(target)
        self._redact = redact
        self._include_arguments = include_arguments
        self._clock = clock
        self._format = line_format
        self._said = 0
        self._outbox: BackgroundQueue[_Fact] = BackgroundQueue(
            self._write, name="log", max_waiting=max_waiting
        )

    @property
    def dropped(self) -> int:
        """Number of lines lost."""
        return self._outbox.dropped

    def on_event(self, event: Event) -> None:
        """Queue a line for the event, if it gets one."""
        match event:
            case CallRecord():
                frozen = freeze(event, keep_arguments=self._include_arguments)
                self._outbox.post((event.started_at + event.duration_ms / 1000, frozen))
            case SourceChanged() | RunStarted():
                self._outbox.post((self._clock.time(), event))
            case RunRested() | RunEnded() | StepEnded() | Notice():
                self._outbox.post((event.at, event))
            case _:
                return

    def flush(self, timeout: float = 5.0) -> bool:
        """Wait until all lines so far are written; False if that takes too long."""
        return self._outbox.flush(timeout)

    def close(self, timeout: float = 5.0) -> None:
        """Write what is queued, for at most `timeout` seconds, and close the file."""
        self._outbox.close(timeout)
        self._sink.close()

    def _write(self, facts: list[_Fact]) -> None:
        lines = [self._line(at, fact) for at, fact in facts]
        dropped = self.dropped
        if dropped > self._said:
            lines.append(self._encode(self._drops(dropped)))
        if not lines:
            return
        try:
            self._sink.write("".join(lines))
        except (OSError, ValueError):
            # The reader is gone or the disk is full; the next line that gets through says so.
            self._outbox.lose(len(facts))
        else:
            self._said = dropped

    def _line(self, at: float, fact: _Entry) -> str:
        match fact:
            case RecordSnapshot():
                return self._encode(self._call(at, fact))
            case SourceChanged():
                return self._encode(_source(at, fact))
            case Notice():
                return self._encode(_notice(at, fact))
            case _:
                return self._encode(_of_run(at, fact))

    def _call(self, at: float, frozen: RecordSnapshot) -> dict[str, Any]:
        level = _LEVELS.get(frozen.record.status, "error")
        data: dict[str, Any] = {"time": _stamp(at), "level": level, "event": "call"}
        data |= {key: value for key, value in frozen.to_dict().items() if value not in ("", None)}
        detail = frozen.record.error_detail
        if _BECAUSE in detail:
            data["stack"] = clean_text(detail.partition(_BECAUSE)[0].rstrip())
        if self._include_arguments:
            data["arguments"] = frozen.arguments
        return data

    def _drops(self, dropped: int) -> dict[str, Any]:
        return {
            "time": _stamp(self._clock.time()),
            "level": "warning",
            "event": "dropped",
            "count": dropped - self._said,
            "total": dropped,
        }

    def _encode(self, data: dict[str, Any]) -> str:
        if self._redact is not None:
            data = self._clean(data)
        line = self._format(data)
        return f"{line}\n" if line else ""

    def _clean(self, value: Any) -> Any:
        if isinstance(value, dict):
            items = cast("dict[str, Any]", value).items()
            return {key: self._clean(item) for key, item in items}
        if isinstance(value, list):
            return [self._clean(item) for item in cast("list[Any]", value)]
        return self._redact(value) if self._redact and isinstance(value, str) else value


def _source(at: float, event: SourceChanged) -> dict[str, Any]:
    data: dict[str, Any] = {
        "time": _stamp(at),
        "level": "warning" if event.reason else "info",
        "event": "source",
        "source": clean_text(event.source),
        "status": clean_text(event.status),
        "tools": event.tools,
        "reason": clean_text(event.reason),
        "stack": clean_text(event.stack),
    }
    return {key: value for key, value in data.items() if value != ""}


def _notice(at: float, event: Notice) -> dict[str, Any]:
    data: dict[str, Any] = {"time": _stamp(at), "level": event.level, "event": event.about}
    data |= {"message": clean_text(event.message), **event.detail}
    return {key: value for key, value in data.items() if value not in ("", [])}


def _of_run(at: float, event: _OfRun) -> dict[str, Any]:
    fields = to_builtins(event)
    fields.pop("at", None)
    fields = {
        key: clean_text(value) if isinstance(value, str) else value for key, value in fields.items()
    }
    state = fields.setdefault("state", "in_progress")
    data: dict[str, Any] = {
        "time": _stamp(at),
        "level": _LEVELS.get(state, "error"),
        "event": "step" if isinstance(event, StepEnded) else "run",
    }
    return data | {key: value for key, value in fields.items() if value != ""}


def _stamp(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")
