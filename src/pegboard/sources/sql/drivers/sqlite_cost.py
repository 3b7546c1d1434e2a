"""Bounds what one statement makes SQLite compute between two checks of its time.

SQLite checks the time when it goes to another row, never within a function and never between the
functions of one row. The time of a function grows with its values, so a statement with many
functions, or with ones that compare two long texts, gets a lower limit for the length of a value.
"""

import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.driver import StatementRequest
from pegboard.sources.sql.lexer import Token, TokenKind

_SECONDS = 1.0
_BYTE = 10e-9
"""Seconds that a function needs for a byte of its arguments at most; measured, as those below."""

_LEAST = 4096
_MAX_LIKE_PATTERN = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class _Search:
    """A function that compares one argument with the bytes of another.

    Attributes:
        at: Which argument that is.
        step: Seconds for a byte and a byte of that argument.
        square: Seconds for a byte squared, where that argument may be as long as values are.
    """

    at: int = 1
    step: float
    square: float


_QUICK = _Search(step=0.1e-9, square=10e-12)
_SLOW = _Search(step=3e-9, square=200e-12)
_PATTERN = _Search(at=0, step=3e-9, square=0.0)
_SEARCHES: Mapping[str, _Search] = {
    **dict.fromkeys(("instr", "replace", "json_patch"), _QUICK),
    **dict.fromkeys(("trim", "ltrim", "rtrim", "unhex"), _SLOW),
    **dict.fromkeys(("like", "glob"), _PATTERN),
    "strftime": replace(_QUICK, at=0),
}
_FORMATS = frozenset({"printf", "format"})
_MATCHES = frozenset({"like", "glob"})
_REPEAT = re.compile(r"%[-+ #!,l0-9.*]*c")
_LITERALS = frozenset({TokenKind.STRING, TokenKind.NUMBER, TokenKind.PARAMETER})


def limit_values(request: StatementRequest, most: int) -> int:
    """The bytes that a value may have in this statement, `most` unless it computes a lot.

    Raises:
        InvalidRequest: It repeats a character by a `printf` that cannot be bounded.
    """
    tokens = request.statement.lexed.tokens
    calls = list(_calls(tokens))
    for name, arguments in calls:
        if name in _FORMATS and arguments:
            _check_format(name, _texts(arguments[0], request), most)
    linear = _BYTE * len(calls)
    squares = 0.0
    for search, size in (*_searches(calls, request), *_operands(tokens, request)):
        if size is not None:
            linear += search.step * size
        else:
            squares += search.square
    if squares:
        longest = (math.sqrt(linear**2 + 4 * squares * _SECONDS) - linear) / (2 * squares)
    else:
        longest = _SECONDS / linear if linear else most
    return min(most, max(_LEAST, int(longest)))


def _calls(tokens: Sequence[Token]) -> Iterator[tuple[str, list[Sequence[Token]]]]:
    """Yield each name before a bracket, with the tokens of its arguments."""
    for index, token in enumerate(tokens[:-1]):
        if token.kind in {TokenKind.WORD, TokenKind.QUOTED} and tokens[index + 1].text == "(":
            yield token.name.lower(), _arguments(tokens[index + 2 :])


def _arguments(tokens: Sequence[Token]) -> list[Sequence[Token]]:
    found: list[Sequence[Token]] = []
    begin = depth = 0
    for index, token in enumerate(tokens):
        if depth == 0 and token.text in {",", ")"}:
            found.append(tokens[begin:index])
            begin = index + 1
            if token.text == ")":
                break
        depth += {"(": 1, ")": -1}.get(token.text, 0)
    return found


def _searches(
    calls: Iterable[tuple[str, list[Sequence[Token]]]], request: StatementRequest
) -> Iterator[tuple[_Search, int | None]]:
    """Yield the searches with the bytes that are looked for; None where those are computed."""
    for name, arguments in calls:
        search = _SEARCHES.get(name)
        if search is not None and search.at < len(arguments):
            size = _size(arguments[search.at], request)
            yield search, _MAX_LIKE_PATTERN if size is None and name in _MATCHES else size


def _operands(
    tokens: Sequence[Token], request: StatementRequest
) -> Iterator[tuple[_Search, int | None]]:
    """Yield each `LIKE` and `GLOB` between two operands, with the bytes of its pattern."""
    for index, token in enumerate(tokens):
        if token.kind is TokenKind.WORD and token.name in _MATCHES:
            size = _size(list(takewhile(_is_in_operand, tokens[index + 1 :])), request)
            yield _PATTERN, _MAX_LIKE_PATTERN if size is None else size


def _is_in_operand(token: Token) -> bool:
    return token.kind is not TokenKind.WORD and token.text not in {")", ","}


def _size(tokens: Sequence[Token], request: StatementRequest) -> int | None:
    """The bytes of literals and parameters joined by `||`; None for what is computed."""
    tokens = list(_fold_characters(tokens))
    joins = [token.text for index, token in enumerate(tokens) if index % 3]
    if len(tokens) % 3 != 1 or any(sign != "|" for sign in joins):
        return None
    sizes = 0
    for token in tokens[::3]:
        texts = _texts([token], request)
        if texts is None:
            return None
        sizes += max((len(text.encode("utf-8", "replace")) for text in texts), default=0)
    return sizes


def _fold_characters(tokens: Sequence[Token]) -> Iterator[Token]:
    """Yield the tokens with `char(10)` as one number."""
    left = list(tokens)
    while left:
        words = [token.text.lower() for token in left[:4]]
        if words[:2] == ["char", "("] and words[3:] == [")"] and left[2].kind is TokenKind.NUMBER:
            del left[:2], left[1]
        yield left.pop(0)


def _texts(tokens: Sequence[Token], request: StatementRequest) -> list[str] | None:
    """The texts that one literal or parameter may be; None for what is computed."""
    if len(tokens) != 1 or tokens[0].kind not in _LITERALS:
        return None
    if tokens[0].kind is not TokenKind.PARAMETER:
        return [tokens[0].text]
    given = request.parameters
    values = given.values() if isinstance(given, Mapping) else given
    return [value for value in values if isinstance(value, str)]


def _check_format(name: str, formats: list[str] | None, most: int) -> None:
    """Refuse `%.*c`, which repeats a character without any limit of SQLite."""
    if formats is None:
        raise InvalidRequest(f"Write the format of {name} as a literal or a parameter.")
    for text in formats:
        repeats = [match[0] for match in _REPEAT.finditer(text)]
        longest = sum(int(digits) for part in repeats for digits in re.findall(r"\d{1,20}", part))
        if any("*" in part for part in repeats) or longest > most:
            raise InvalidRequest(
                f"{name} may repeat a character up to {most} times, and the number stands in the "
                "format: '%.80c'."
            )
