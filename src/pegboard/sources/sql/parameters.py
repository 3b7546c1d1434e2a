"""Binds parameters: an array by position or an object by name, on both databases."""

from collections.abc import Mapping, Sequence
from typing import Any, cast

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.lexer import Dialect, LexedStatement, Token, TokenKind

BoundStatement = tuple[str, list[Any] | dict[str, Any]]
"""The text for the driver and its parameters."""

_MAX_INTEGER = 2**63


def bind(lexed: LexedStatement, parameters: Any, dialect: Dialect) -> BoundStatement:
    """Return the statement and its parameters in the form of the driver.

    SQLite reads `?` and `:name`, PostgreSQL `$1` and `:name` (which becomes a number there).

    Raises:
        InvalidRequest: Statement and parameters do not match.
    """
    marks = [token for token in lexed.tokens if token.kind is TokenKind.PARAMETER]
    if isinstance(parameters, Mapping):
        return _by_name(lexed, marks, cast("Mapping[str, Any]", parameters), dialect)
    values: Sequence[Any] = parameters or ()
    named = next((token.text for token in marks if token.text.startswith(":")), None)
    if named is not None:
        raise InvalidRequest(f"{named} needs parameters as an object: {{'{named[1:]}': ...}}.")
    if dialect == "sqlite":
        wanted = len(marks)
    else:
        wanted = max((int(token.name) for token in marks), default=0)
    if wanted != len(values):
        mark = "?" if dialect == "sqlite" else "$1, $2, ..."
        raise InvalidRequest(
            f"The statement takes {wanted} parameters ({mark}), but {len(values)} were given."
        )
    return lexed.text, [_value(value, index, dialect) for index, value in enumerate(values)]


def _by_name(
    lexed: LexedStatement, marks: Sequence[Token], values: Mapping[str, Any], dialect: Dialect
) -> BoundStatement:
    used = [token.name for token in marks]
    if any(not token.text.startswith(":") for token in marks):
        raise InvalidRequest("Parameters in an object are written :name in the statement.")
    missing = [name for name in used if name not in values]
    unused = [name for name in values if name not in used]
    if missing or unused:
        problem = f":{missing[0]} is missing" if missing else f"'{unused[0]}' is not used"
        raise InvalidRequest(f"Parameter {problem}; the statement and the object must agree.")
    checked = {name: _value(value, name, dialect) for name, value in values.items()}
    if dialect == "sqlite":
        return lexed.text, checked
    order = list(dict.fromkeys(used))
    return _by_number(lexed, marks, order), [checked[name] for name in order]


def _by_number(lexed: LexedStatement, marks: Sequence[Token], order: Sequence[str]) -> str:
    pieces: list[str] = []
    at = 0
    for token in marks:
        pieces += [lexed.text[at : token.start], f"${order.index(token.name) + 1}"]
        at = token.start + len(token.text)
    return "".join([*pieces, lexed.text[at:]])


def _value(value: Any, where: int | str, dialect: Dialect) -> Any:
    """Check a JSON scalar, or for PostgreSQL an array of scalars."""
    if isinstance(value, list) and dialect == "postgresql":
        return [_value(item, where, dialect) for item in cast("list[Any]", value)]
    if isinstance(value, bool) or value is None or isinstance(value, float):
        return value
    if isinstance(value, int) and -_MAX_INTEGER <= value < _MAX_INTEGER:
        return value
    if isinstance(value, str) and "\x00" not in value and _writable(value):
        return value
    raise InvalidRequest(
        f"Parameter {where!r} cannot be bound: give a text, a 64-bit number, true, false or null."
    )


def _writable(value: str) -> bool:
    return not any("\ud800" <= char <= "\udfff" for char in value)
