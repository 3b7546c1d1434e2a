"""Binds parameters: an array by position or an object by name, on every database."""

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.dialects import DIALECTS
from pegboard.sources.sql.lexer import Dialect, LexedStatement, Token, TokenKind

BoundStatement = tuple[str, list[Any] | dict[str, Any]]
"""The text for the driver and its parameters."""

_MAX_INTEGER = 2**63


def bind(lexed: LexedStatement, parameters: Any, dialect: Dialect) -> BoundStatement:
    """Return the statement and its parameters in the form of the driver.

    SQLite reads `?` and `:name`; PostgreSQL and DuckDB `$1`, and `:name`, which becomes a number.
    SQLAlchemy reads `:name`, which `?` becomes, and a backslash before other colons.
    PyMySQL would put parameters into the text itself, so `?` and `:name` become literals here:
    numbers, and texts as hexadecimal digits, which every setting of the server reads the same.

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
    rules = DIALECTS[dialect]
    if rules.binding == "numbered":
        wanted = max((int(token.name) for token in marks), default=0)
    else:
        wanted = len(marks)
    if wanted != len(values):
        raise InvalidRequest(
            f"The statement takes {wanted} parameters ({rules.mark}), but {len(values)} were given."
        )
    checked = [_value(value, index, dialect) for index, value in enumerate(values)]
    if rules.binding == "literal":
        return _replace(lexed, marks, [_literal(value) for value in checked]), []
    if rules.binding == "named":
        names = [f"p{number}" for number in range(1, len(marks) + 1)]
        return _name_marks(lexed, marks, names), dict(zip(names, checked, strict=True))
    return lexed.text, checked


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
    match DIALECTS[dialect].binding:
        case "native":
            return lexed.text, checked
        case "literal":
            return _replace(lexed, marks, [_literal(checked[name]) for name in used]), []
        case "named":
            return _name_marks(lexed, marks, used), checked
        case "numbered":
            order = list(dict.fromkeys(used))
            numbers = [f"${order.index(name) + 1}" for name in used]
            return _replace(lexed, marks, numbers), [checked[name] for name in order]


def _replace(lexed: LexedStatement, marks: Sequence[Token], texts: Sequence[str]) -> str:
    """Return the statement with another text in the place of each mark."""
    return "".join(_split(lexed, marks, texts))


def _name_marks(lexed: LexedStatement, marks: Sequence[Token], names: Sequence[str]) -> str:
    """Return the statement with `:name` in the place of each mark, all other colons escaped."""
    pieces = list(_split(lexed, marks, [f":{name}" for name in names]))
    pieces[::2] = [piece.replace(":", "\\:") for piece in pieces[::2]]
    return "".join(pieces)


def _split(lexed: LexedStatement, marks: Sequence[Token], texts: Sequence[str]) -> Iterator[str]:
    """Yield the pieces of the statement between the marks, and after each one its text."""
    at = 0
    for token, text in zip(marks, texts, strict=True):
        yield lexed.text[at : token.start]
        yield text
        at = token.start + len(token.text)
    yield lexed.text[at:]


def _literal(value: Any) -> str:
    """Write a checked value as a literal of MySQL."""
    match value:
        case None:
            return "NULL"
        case bool():
            return "TRUE" if value else "FALSE"
        case str():
            return f"_utf8mb4 X'{value.encode().hex()}'"
        case float() if not math.isfinite(value):
            raise InvalidRequest("A parameter is not a finite number.")
        case _:
            return f"({value!r})" if value < 0 else repr(value)


def _value(value: Any, where: int | str, dialect: Dialect) -> Any:
    """Check a JSON scalar, or for some databases an array of scalars."""
    if isinstance(value, list) and DIALECTS[dialect].arrays:
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
