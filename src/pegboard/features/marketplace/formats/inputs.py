"""Input values of an entry of an MCP registry: given by the entry, or required.

Required values are read from environment variables whose names begin with `MARKET_`, so that no
entry gets another variable by naming it. A text of the entry that a board file would expand is
refused.
"""

import re

from pegboard.features.marketplace.entries import RequiredValue, UnusableEntry
from pegboard.features.marketplace.formats.sanitize import Node, items, line, node

_VARIABLE = re.compile(r"\{([A-Za-z_][A-Za-z0-9_-]*)\}")
_ILLEGAL = re.compile(r"[^A-Z0-9]+")
_MAX_VALUE_LENGTH = 2_000
_MAX_NEEDS = 40
_MARK = "\x00"


class Inputs:
    """Collects the required values of one install option.

    Args:
        short: Name of the source.
    """

    def __init__(self, short: str) -> None:
        self._prefix = f"MARKET_{_ILLEGAL.sub('_', short.upper())}"
        self._needs: dict[str, RequiredValue] = {}

    @property
    def needs(self) -> tuple[RequiredValue, ...]:
        """The required values."""
        return tuple(self._needs.values())

    def value(self, said: Node, *, name: str, place: str) -> str | None:
        """Return a value as a board file writes it; None if it is optional and not given.

        Args:
            said: An `Input` of the format.
            name: Name given by the entry.
            place: Where the value is used.

        Raises:
            UnusableEntry: The value cannot be written.
        """
        raw = self._raw(said, node(said.get("variables")), name, place)
        return None if raw is None else self._to_config_text(raw)

    def fill(self, text: object, variables: Node, *, place: str) -> str:
        """Fill in the variables of a text; all of them are required.

        Raises:
            UnusableEntry: The value cannot be written.
        """
        return self._to_config_text(self._replace(_plain(text), variables, place, is_required=True))

    def _raw(self, said: Node, variables: Node, name: str, place: str) -> str | None:
        fixed = said.get("value")
        is_required = said.get("isRequired") is True
        if fixed is not None and fixed != "":
            return self._replace(_plain(fixed), variables, place, is_required=is_required)
        default = said.get("default")
        if default is not None and default != "":
            return _plain(default)
        return self._missing(said, name, place) if is_required else None

    def _replace(self, text: str, variables: Node, place: str, *, is_required: bool) -> str:
        def one(found: re.Match[str]) -> str:
            if found[1] not in variables:
                return found[0]
            said = node(variables[found[1]])
            if is_required:  # a required value may have no gaps
                said = {**said, "isRequired": True}
            value = self._raw(said, {}, found[1], place)
            return "" if value is None else value

        return _VARIABLE.sub(one, text)

    def _missing(self, said: Node, name: str, place: str) -> str:
        word = _ILLEGAL.sub("_", name.upper()).strip("_")[:40] or "VALUE"
        variable = f"{self._prefix}_{word}"
        if variable not in self._needs and len(self._needs) >= _MAX_NEEDS:
            raise UnusableEntry(f"it requires more than {_MAX_NEEDS} values")
        need = RequiredValue(
            name=line(name, most=100),
            place=place,
            variable=variable,
            description=_describe(said),
            is_secret=said.get("isSecret") is True,
        )
        self._needs.setdefault(variable, need)
        return f"{_MARK}{variable}{_MARK}"

    def _to_config_text(self, raw: str) -> str:
        parts = raw.split(_MARK)
        if any("${" in part for part in parts[::2]):
            raise UnusableEntry("a value contains '${', which a board file would expand")
        return "".join(f"${{{part}}}" if number % 2 else part for number, part in enumerate(parts))


def _describe(said: Node) -> str:
    choices = ", ".join(filter(None, (line(item, most=50) for item in items(said.get("choices")))))
    return line(f"{line(said.get('description'))}{f' One of: {choices}' if choices else ''}")


def _plain(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, (int, float)):
        return str(value)
    if not isinstance(value, str):
        raise UnusableEntry("a value is not text")
    if len(value) > _MAX_VALUE_LENGTH:
        raise UnusableEntry(f"a value has more than {_MAX_VALUE_LENGTH} characters")
    if not value.isprintable():
        raise UnusableEntry("a value has unprintable characters")
    return value
