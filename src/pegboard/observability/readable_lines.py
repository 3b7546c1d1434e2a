"""Log lines for people at a terminal."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from pathlib import PurePath
from typing import Any

_NAME = 28
_STATE = 15
_INDENT = "  "
_OF_SOURCES = "pegboard.sources"
_PLACE = re.compile(r'^  File "(.+)", line (\d+)', re.MULTILINE)


class ReadableLines:
    """Formats the data of log lines for a terminal; the first is a summary of the board.

    Sources are in the summary, and have a line of their own only when their state changes later.
    """

    def __init__(self) -> None:
        self._sources: dict[str, tuple[Any, ...]] | None = None
        self._causes: dict[str, str] = {}

    def __call__(self, data: Mapping[str, Any]) -> str:
        """The lines of an event; empty for none."""
        match data["event"]:
            case "server":
                lines = self._summarize(data)
            case "source":
                lines = self._source(data)
            case "call":
                lines = [_columns(data, data["tool"], data["status"], _call_detail(data))]
            case "step":
                detail = [_took(data), data.get("tool"), data.get("error_code")]
                lines = [_columns(data, data["step"], data["state"], detail)]
            case "run":
                detail = [_took(data), data.get("graph"), data.get("error_code")]
                lines = [_columns(data, data["run_id"], data["state"], detail)]
            case "log":
                lines = _log(data)
            case "dropped":
                lines = [_line(data, f"{data['count']} lines were lost")]
            case _:
                lines = [_line(data, str(data.get("message", "")))]
                lines += [_line({**data, "event": "rule"}, item) for item in _rules(data)]
        return "\n".join(map(_printable, lines))

    def _summarize(self, data: Mapping[str, Any]) -> list[str]:
        sources = data.get("sources", [])
        self._sources = {item["name"]: self._state_of(item["name"], item) for item in sources}
        width = max((len(item["name"]) for item in sources), default=0)
        rows = [("board", [data["board"]]), ("data", [data["data"]])]
        rows += [("console", [data["console"]])] if data.get("console") else []
        rows.append(("tools", [str(data["tools"])]))
        listed = [
            f"{item['name']:<{width}}  {_describe(item, self._causes.get(item['name'], ''))}"
            for item in sources
        ]
        rows += [("sources", listed), ("warnings", _rules(data))]
        return [*(line for title, items in rows for line in _row(title, items)), ""]

    def _source(self, data: Mapping[str, Any]) -> list[str]:
        self._causes[data["source"]] = cause = _cause(data.get("stack", ""))
        state = self._state_of(data["source"], data)
        if self._sources is None or self._sources.get(data["source"]) == state:
            return []
        self._sources[data["source"]] = state
        detail = [_count(data["tools"]), data.get("reason"), cause]
        return [_columns(data, data["source"], data["status"], detail)]

    def _state_of(self, name: str, item: Mapping[str, Any]) -> tuple[Any, ...]:
        return item["status"], item["tools"], item.get("reason", ""), self._causes.get(name, "")


def _row(title: str, items: Sequence[str]) -> Iterable[str]:
    for index, item in enumerate(items):
        yield f"{_INDENT}{title if not index else '':<8}{_INDENT}{item}"


def _rules(data: Mapping[str, Any]) -> list[str]:
    return [
        f"{item['rule']} rule '{item['glob']}'"
        f"{' (' + item['where'] + ')' if item['where'] else ''}: {item['reason']}"
        for item in data.get("rules", [])
    ]


def _describe(item: Mapping[str, Any], cause: str) -> str:
    state = "" if item["status"] == "ok" else f"{item['status']:<8}"
    tools = _count(item["tools"]) if item["tools"] or not state else ""
    return "  ".join(filter(None, (state, tools, item.get("reason"), cause)))


def _cause(stack: str) -> str:
    """The last line of a stack trace, and the file and line where it was raised."""
    if not stack:
        return ""
    places = _PLACE.findall(stack)
    where = f" in {PurePath(places[-1][0]).name}:{places[-1][1]}" if places else ""
    return f"({stack.strip().splitlines()[-1]}{where})"


def _log(data: Mapping[str, Any]) -> list[str]:
    """A warning of a library; the line of a source says what failed in it."""
    error = data.get("error", "")
    if error and data["logger"] == _OF_SOURCES:
        return []
    return [_line(data, data["message"] + (f": {error}" if error else ""))]


def _call_detail(data: Mapping[str, Any]) -> list[Any]:
    error_id = data.get("error_id")
    return [
        _took(data),
        data.get("principal") if data.get("principal") != "local" else "",
        data.get("error_message"),
        _cause(data.get("stack", "")),
        f"(error id {error_id})" if error_id else "",
    ]


def _took(data: Mapping[str, Any]) -> str:
    duration = data.get("duration_ms")
    if duration is None:
        return ""
    if duration < 1:
        text = "< 1 ms"
    else:
        text = f"{duration:.0f} ms" if duration < 10_000 else f"{duration / 1000:.0f} s"
    return f"{text:>8}"


def _count(number: int) -> str:
    return "1 tool" if number == 1 else f"{number} tools"


def _columns(data: Mapping[str, Any], name: str, state: str, detail: Iterable[Any]) -> str:
    rest = "  ".join(str(item) for item in detail if item)
    return _line(data, f"{name:<{_NAME}}  {state:<{_STATE}}  {rest}".rstrip())


def _line(data: Mapping[str, Any], text: str) -> str:
    time = datetime.fromisoformat(data["time"]).astimezone()
    kind = data["event"] if data["level"] != "error" or data["event"] == "call" else "error"
    return f"{time:%H:%M:%S}  {kind:<6}  {text}"


def _printable(line: str) -> str:
    """One line without control characters, which could control the terminal."""
    return "".join(char if char.isprintable() else " " if char == "\n" else "�" for char in line)
