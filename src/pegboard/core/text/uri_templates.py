"""URI templates (RFC 6570): match a URI and extract the variables, as far as that is possible."""

import re
from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import unquote

_PLACE = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
# what a place of each kind may hold: the operators that reserve nothing cross slashes
_WIDE = frozenset("+#/")
_LEADS = {"#": "#", ".": r"\.", "/": "/", ";": ";", "?": r"\?", "&": "&"}


def match_uri(template: str, uri: str) -> Mapping[str, str] | None:
    """The variables of the template in this URI; None when the URI does not match.

    A query (`{?a,b}`) may have its names in any order and leave some out.
    """
    pattern, names = _compile(template)
    found = pattern.fullmatch(uri)
    if found is None:
        return None
    values: dict[str, str] = {}
    for index, (operator, listed) in enumerate(names):
        text = found.group(index + 1) or ""
        if operator in ("?", "&", ";"):
            values |= _parse_pairs(text, listed, ";" if operator == ";" else "&")
        else:
            values |= _split_values(text, listed)
    return values


def variable_names(template: str) -> tuple[str, ...]:
    """The names of all variables, in order."""
    return tuple(name for _, listed in _compile(template)[1] for name in listed)


@lru_cache(maxsize=1024)
def _compile(template: str) -> tuple[re.Pattern[str], tuple[tuple[str, tuple[str, ...]], ...]]:
    parts: list[str] = []
    names: list[tuple[str, tuple[str, ...]]] = []
    end = 0
    for place in _PLACE.finditer(template):
        operator, listed = place.group(1), tuple(place.group(2).split(","))
        parts.append(re.escape(template[end : place.start()]))
        wide = operator in _WIDE or any(name.endswith("*") for name in listed)
        held = ".+" if wide else "[^?#]*" if operator in ("?", "&", ";") else "[^/?#]+"
        optional = "?" if operator in ("?", "&", ";", "#") else ""
        held = "[^#]*" if operator in ("?", "&") else held
        parts.append(f"(?:{_LEADS.get(operator, '')}({held})){optional}")
        names.append((operator, tuple(name.rstrip("*").partition(":")[0] for name in listed)))
        end = place.end()
    parts.append(re.escape(template[end:]))
    return re.compile("".join(parts), re.DOTALL), tuple(names)


def _split_values(text: str, names: tuple[str, ...]) -> dict[str, str]:
    if len(names) == 1:
        return {names[0]: unquote(text)}
    values = [unquote(item) for item in text.split(",", len(names) - 1)]
    return dict(zip(names, values, strict=False))


def _parse_pairs(text: str, names: tuple[str, ...], separator: str) -> dict[str, str]:
    pairs = (item.partition("=") for item in text.split(separator) if item)
    return {unquote(name): unquote(value) for name, _, value in pairs if unquote(name) in names}
