"""What the results of a run contain, as far as arguments of later calls may come from them."""

import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, cast

from msgspec import Struct

_MIN_ASKED = 3
_MAX_VALUES = 2_000
_MAX_VALUE = 200
_MAX_RECORDS = 200


class ResultValues(Struct, frozen=True, kw_only=True):
    """What the result of a call in the same run contains, as `normalize` writes it.

    Attributes:
        call_id: The call.
        tool: Its tool.
        source: The source of the tool; empty for a bare function.
        values: Whole values of a structured result.
        text: The text, where it is untrusted.
        asked_with: The arguments of a read.
        entry: Values of the only record of a read that has the text of an argument as a value.
        is_trusted: Whether the result is trusted.
        is_write: Whether the tool writes and is asked about by default once the run has read
            untrusted text. A value that such a call returns counts as named by the caller: the
            write itself was checked.
        is_unasked: Whether the tool writes and is never asked about by that rule, so that
            untrusted text may have reached its source.
    """

    call_id: str
    tool: str
    source: str = ""
    values: frozenset[str] = frozenset()
    text: str = ""
    asked_with: frozenset[str] = frozenset()
    entry: frozenset[str] = frozenset()
    is_trusted: bool = False
    is_write: bool = False
    is_unasked: bool = False


def normalize(text: str) -> str:
    """The text for comparisons: case, space and the scheme of links do not count."""
    return " ".join(re.sub(r"\bhttps?://", "", text.casefold()).split())


def write_value(value: object) -> str:
    """A value as `normalize` writes it."""
    try:
        return normalize(value if isinstance(value, str) else str(value))
    except ValueError:  # a number of thousands of digits
        return ""


def list_values(value: object) -> Iterator[str]:
    """The whole values within JSON, for comparisons; booleans and nothing left out."""
    left = [value]
    while left:
        item = left.pop()
        if isinstance(item, Mapping):
            left.extend(cast("Mapping[Any, Any]", item).values())
        elif isinstance(item, (list, tuple)):
            left.extend(cast("Sequence[Any]", item))
        elif item is not None and not isinstance(item, bool):
            yield write_value(item)


def collect_values(value: object) -> frozenset[str]:
    """The whole values within JSON that may be names: of bounded number and length."""
    return frozenset(it for it in islice(list_values(value), _MAX_VALUES) if len(it) <= _MAX_VALUE)


def find_entry(data: object, asked_with: frozenset[str]) -> frozenset[str]:
    """The values of the only record of a read that has the text of an argument as a whole value.

    Records are the objects of a list, else the whole. Values of objects within one are not its own.

    Args:
        data: A structured result.
        asked_with: The arguments of the read.
    """
    asked = {text for text in asked_with if len(text) >= _MIN_ASKED and not text.isdigit()}
    records = list(islice(_list_records(data), _MAX_RECORDS + 1)) if asked else []
    if len(records) > _MAX_RECORDS:
        return frozenset()
    found = [values for values in map(_own_values, records) if not asked.isdisjoint(values)]
    return found[0] - asked_with if len(found) == 1 else frozenset()


def contains_word(text: str, part: str) -> bool:
    """Whether a text has this part as a whole word, address or link."""
    if not part or part not in text:
        return False
    found = re.compile(rf"(?<![\w@./+%-]){re.escape(part)}(?![\w@/-]|\.\w)")
    return found.search(text) is not None


def _list_records(data: object) -> Iterator[Mapping[Any, Any]]:
    """The objects of the outermost lists; where there is no list of objects, the whole."""
    is_listed = False
    left = [data]
    while left:
        item = left.pop()
        if isinstance(item, Mapping):
            left.extend(cast("Mapping[Any, Any]", item).values())
        elif isinstance(item, (list, tuple)):
            for part in cast("Sequence[Any]", item):
                if isinstance(part, Mapping):
                    is_listed = True
                    yield cast("Mapping[Any, Any]", part)
                else:
                    left.append(part)
    if not is_listed and isinstance(data, Mapping):
        yield cast("Mapping[Any, Any]", data)


def _own_values(record: Mapping[Any, Any]) -> frozenset[str]:
    return collect_values([value for value in record.values() if not _has_objects(value)])


def _has_objects(value: object) -> bool:
    if isinstance(value, (list, tuple)):
        return any(isinstance(it, (Mapping, list, tuple)) for it in cast("Sequence[Any]", value))
    return isinstance(value, Mapping)
