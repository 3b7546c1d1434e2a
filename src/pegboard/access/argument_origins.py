"""Trace the arguments of a call to the messages of its caller and to the results of its run.

An attacker can make a model call any tool with any values. What he cannot do is write the messages
of the caller. So a value that decides where a call goes or what it changes counts as the caller's
where it stands in these messages. `docs/how-to/say-who-may-call-what.md` states the rule.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from pegboard.access.result_values import ResultValues, contains_word, normalize, write_value
from pegboard.core.argument_origin import ArgumentOrigin, ArgumentOrigins
from pegboard.core.tool import Effect, ToolSpec

PROSE = frozenset(
    {
        "body",
        "caption",
        "comment",
        "content",
        "description",
        "html",
        "location",
        "markdown",
        "message",
        "note",
        "notes",
        "reason",
        "subject",
        "summary",
        "text",
        "title",
    }
)
"""Parameters for text that a model writes itself."""
_MONTH = r"(?:jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]*\.?"
_DAY = r"\d{1,2}(?:st|nd|rd|th)?"
_DATES = re.compile(
    rf"\d{{4}}-\d\d-\d\d|\b\d\d?:\d\d(?::\d\d)?\b|\b{_MONTH} {_DAY}\b(?:,? \d{{4}}\b)?"
    rf"|\b{_DAY}(?: of)? {_MONTH}(?: \d{{4}}\b)?",
    re.IGNORECASE,
)
_MOMENT = re.compile(
    r"\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?)?|\d\d:\d\d"
)
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*")
_ADDRESS = re.compile(
    r"[\w.+-]+@[\w-]+(?:\.[\w-]+)+"
    r"|https?://[^\s<>\"')\]]+|(?<![\w.])[\w-]+(?:\.[\w-]+)*\.[a-z]{2,}(?:[/?#:][^\s<>\"')\]]*)?"
    r"|\b[a-z]{2}\d{2}[a-z0-9]{8,30}\b",
    re.IGNORECASE,
)
_CODE = re.compile(r"\d(?:[ .-]?\d){5,}|(?<!\w)(?=[a-z]*\d)(?=\d*[a-z])\w{6,}(?!\w)", re.IGNORECASE)
_GLUED = re.compile(r"(?<=[a-z0-9])\.(?=[A-Z][a-z]*(?:\s|$))")
MAX_TRACED = 200
_MAX_DEPTH = 20
_MAX_SEARCHED = 20
_MAX_EXPLAINED = 10


def trace_arguments(
    spec: ToolSpec,
    arguments: Mapping[str, Any],
    *,
    messages: Sequence[str],
    results: Sequence[ResultValues],
) -> ArgumentOrigins:
    """Trace the arguments of a write.

    The caller has named what a call acts on where each argument was named by the caller (or made by
    a write of this run), or is text of the model that carries no address, link or code that the
    caller has not named. A whole value of an earlier result will do in place of the caller's word,
    as the id of something that the model has looked up, but only where the call carries no text of
    the model, since such a call cannot take anything out. The same holds for what the caller named
    as a place to read untrusted text from. At least one argument must be named by the caller.

    A trusted source that was asked in the caller's words, which is where the caller has named each
    argument of the read, answers for these words: the address of the only record that has one of
    them as a value is named, and a text of the call may be a whole value of the result.

    Args:
        spec: The tool.
        arguments: The validated arguments.
        messages: Those of the caller.
        results: Of earlier calls of the run.
    """
    if spec.destructive is True or spec.effect is Effect.ADMIN:
        return ArgumentOrigins(reason="it may destroy something")
    trace = _Trace(messages, results)
    leaves = list(islice(list_leaves(spec, arguments), MAX_TRACED + 1))
    if len(leaves) > MAX_TRACED:
        return ArgumentOrigins(reason=f"it has more than {MAX_TRACED} arguments")
    found = [origin for path, key, value in leaves if (origin := trace.find(path, key, value))]
    return ArgumentOrigins(
        arguments=tuple(found), reason=trace.explain(found), carries_text=trace.carries_text
    )


def is_moment(value: object) -> bool:
    """Whether a value is a date or a time, which decides nothing."""
    return isinstance(value, str) and _MOMENT.fullmatch(write_value(value)) is not None


class _Trace:
    """The search for the arguments of one call."""

    def __init__(self, messages: Sequence[str], results: Sequence[ResultValues]) -> None:
        self._results = results
        self._words = " ;\n; ".join(map(normalize, _list_readings(messages)))
        self._undated = _DATES.sub(" ; ", self._words)
        self._numbers = set(_find_numbers(self._undated))
        self._sources = frozenset[str]().union(
            *(item.asked_with for item in results if not item.is_trusted)
        )
        self._answers = list(self._list_answers())
        self._explained = 0
        self.carries_text = False
        self._places: list[str] = []
        self._names_something = False

    def find(self, path: str, key: str, value: object) -> ArgumentOrigin | None:
        """Where a value comes from; None for a text or a moment, which decide nothing."""
        text = write_value(value)
        if is_moment(value):
            return None
        if self._is_named(value, text):
            self._names_something |= isinstance(value, str) and not text.isdigit()
            if key not in PROSE and text in self._sources:
                self._places.append(path)
            return ArgumentOrigin(argument=path, origin="caller", is_named=True)
        if key in PROSE and isinstance(value, str):
            self.carries_text = True
            unnamed = next((item for item in list_marks(value) if not self._has(item)), "")
            if not unnamed:
                return None
            return self._find_answer(path, text) or self._find_in_results(path, normalize(unnamed))
        return self._find_entry(path, text) or self._find_in_results(path, text)

    def explain(self, found: Iterable[ArgumentOrigin]) -> str:
        """Why the caller may not want the call; empty where the caller does."""
        unnamed = [item.argument for item in found if not item.is_named]
        if unnamed:
            return f"the caller has not named {', '.join(unnamed[:5])}"
        if self._places and self.carries_text:
            where = ", ".join(self._places[:5])
            return f"it carries text of the model, and {where} comes from what the run has read"
        return "" if self._names_something else "the caller has named nothing of it"

    def _is_named(self, value: object, text: str) -> bool:
        if isinstance(value, bool):
            return False
        if isinstance(value, (int, float)):
            return value in self._numbers
        return self._has(text)

    def _has(self, value: str) -> bool:
        text = normalize(value)
        if text.isdigit():
            return contains_word(self._undated, text)
        return len(text) > 1 and contains_word(self._words, text)

    def _list_answers(self) -> Iterator[ResultValues]:
        """What trusted sources have answered to words of the caller.

        A source into which the run has written unasked may answer with that.
        """
        written: set[str] = set()
        for item in self._results:
            if item.is_unasked:
                written.add(item.source)
            asks = item.is_trusted and item.asked_with and item.source not in written
            if asks and all(map(self._has, item.asked_with)):
                yield item

    def _find_answer(self, path: str, text: str) -> ArgumentOrigin | None:
        """The origin of a text that a trusted source has given for words of the caller."""
        if _is_mark(text):
            return None
        found = (item for item in self._answers if text in item.values)
        return next((_from_result(path, item) for item in found), None)

    def _find_entry(self, path: str, text: str) -> ArgumentOrigin | None:
        """The origin of an address that a trusted source gives for a name of the caller."""
        if _ADDRESS.fullmatch(text) is None:
            return None
        found = next((item for item in self._answers if text in item.entry), None)
        self._names_something |= found is not None
        return None if found is None else _from_result(path, found)

    def _find_in_results(self, path: str, text: str) -> ArgumentOrigin:
        """Its origin in a result. One that the model may have picked by itself is no name."""
        is_mark = _is_mark(text)
        for item in reversed(self._results):
            if text in item.values and not is_mark:
                if not item.is_write:
                    self._places.append(path)
                return _from_result(path, item)
        source = self._find_text(text)
        if source is None:
            return ArgumentOrigin(argument=path, origin="unknown")
        return ArgumentOrigin(
            argument=path, origin="text", call_id=source.call_id, tool=source.tool
        )

    def _find_text(self, text: str) -> ResultValues | None:
        """The call that has brought a text in, for the approver; the search is bounded."""
        self._explained += 1
        if self._explained > _MAX_EXPLAINED or len(text) < 2:
            return None
        for item in reversed(self._results[-_MAX_SEARCHED:]):
            if text in item.values or contains_word(item.text, text):
                return item
        return None


def _is_mark(text: str) -> bool:
    """Whether a text is an address, a link or a code, and nothing else."""
    return _ADDRESS.fullmatch(text) is not None or _CODE.fullmatch(text) is not None


def _from_result(path: str, item: ResultValues) -> ArgumentOrigin:
    return ArgumentOrigin(
        argument=path,
        origin="write" if item.is_write else "result",
        call_id=item.call_id,
        tool=item.tool,
        is_named=True,
    )


def _list_readings(messages: Iterable[str]) -> Iterator[str]:
    """Each message, and as it reads where a sentence begins right after a full stop."""
    for message in messages:
        yield message
        if _GLUED.search(message):
            yield _GLUED.sub(". ", message)


def list_marks(text: str) -> Iterator[str]:
    """The addresses, links and codes in a text."""
    for found in _ADDRESS.finditer(text):
        yield found[0].rstrip(".,;:!?")
    for found in _CODE.finditer(_DATES.sub(" ; ", _ADDRESS.sub(" ; ", text))):
        yield found[0]


def list_leaves(spec: ToolSpec, arguments: Mapping[str, Any]) -> Iterator[tuple[str, str, object]]:
    """Each given value with its path and the name of its parameter, defaults left out.

    Args:
        spec: The tool.
        arguments: The validated arguments.
    """
    properties = cast("Mapping[str, Any]", spec.input_schema.get("properties") or {})
    for name, value in arguments.items():
        declared = properties.get(name)
        if isinstance(declared, Mapping):
            default = cast("Mapping[str, Any]", declared).get("default")
            if default is not None and default == value and type(default) is type(value):
                continue
        yield from _list_within(name, name, value)
        yield from _list_key(name, name)


def _list_within(
    path: str, key: str, value: object, depth: int = 0
) -> Iterator[tuple[str, str, object]]:
    if depth > _MAX_DEPTH:
        yield path, "", True  # which nobody names
    elif isinstance(value, Mapping):
        for name, item in cast("Mapping[Any, Any]", value).items():
            yield from _list_within(f"{path}.{name}", str(name), item, depth + 1)
            yield from _list_key(f"{path}.{name}", str(name))
    elif isinstance(value, (list, tuple)):
        for index, item in enumerate(cast("Sequence[Any]", value)):
            yield from _list_within(f"{path}[{index}]", key, item, depth + 1)
    elif value is not None and value != "":
        yield path, key, value


def _list_key(path: str, name: str) -> Iterator[tuple[str, str, object]]:
    """The name itself, where it is an address or a code."""
    if next(list_marks(name), ""):
        yield path, "", name


def _find_numbers(text: str) -> Iterator[float]:
    for found in _NUMBER.findall(text):
        try:
            yield float(found.replace(",", ""))
        except ValueError:  # a version or an address
            continue
