"""Reads SQL text by the database's own lexical rules, before it is parsed.

A guard is safe only if it reads the text as the database does. So comments and unusual white space
become blanks, text that two parsers could read differently is refused, and the same plain text is
parsed, checked and run.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Literal, get_args

from pegboard.errors import InvalidRequest

OtherDialect = Literal[
    "mssql",
    "oracle",
    "snowflake",
    "clickhouse",
    "clickhousedb",
    "trino",
    "presto",
    "awsathena",
    "redshift",
    "cockroachdb",
    "materialize",
    "risingwave",
    "bigquery",
    "databricks",
    "hive",
    "starrocks",
    "doris",
    "teradatasql",
    "exa",
    "druid",
    "drill",
]
"""Schemes of the URLs of databases that are reached through a dialect of SQLAlchemy."""

Dialect = Literal["sqlite", "postgresql", "mysql", "duckdb"] | OtherDialect

MAX_SQL = 20_000
"""The maximum of characters; longer statements hold data that belongs in parameters."""

MAX_TOKENS = 3_000
"""The maximum of tokens; the time to parse grows faster than their number."""

MAX_NESTING = 40
"""The maximum nesting of brackets, since the parser is recursive."""


MAX_SUBSCRIPTS = 60
MAX_ARRAY_DEPTH = 4
"""The maximum of square brackets and of their nesting: the parser tries two readings of each."""


class TokenKind(StrEnum):
    """The kind of a token."""

    WORD = "word"
    QUOTED = "quoted"
    STRING = "string"
    NUMBER = "number"
    PARAMETER = "parameter"
    SYMBOL = "symbol"


@dataclass(frozen=True, slots=True, kw_only=True)
class Token:
    """A token of the text.

    Attributes:
        name: The word in lower case, the quoted name without its quotes, the parameter without its
            mark, else the text.
        start: The offset in the text, which is the same as in the original text.
    """

    kind: TokenKind
    text: str
    name: str
    start: int


@dataclass(frozen=True, slots=True, kw_only=True)
class LexedStatement:
    """One statement as normalised text and tokens."""

    text: str
    tokens: tuple[Token, ...]

    def near(self, offset: int) -> str:
        """Return a few words at an offset, for a message."""
        return " ".join(self.text[max(0, offset) :].split())[:30] or "the end"


_BLANK = r"(?P<blank>[ \t\r\n\f\v]+)"
_STRING = r"(?P<string>[xX]?'(?:[^']|'')*')"
_DECIMAL = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_NUMBER = rf"(?P<number>{_DECIMAL})"
_NUMBER_OR_HEX = rf"(?P<number>0[xX][0-9a-fA-F]+|{_DECIMAL})"
_WORD = r"(?P<word>[^\W\d]\w*)"
_SYMBOL = r"(?P<symbol>::|[-+*/<>=~!@#%^&|?.,;:()\[\]])"

_SQLITE_RULES = (
    _BLANK,
    r"(?P<comment>--[^\n]*|/\*(?:[^*]|\*(?!/))*(?:\*/|\Z))",
    _STRING,
    r'(?P<quoted>"(?:[^"]|"")+"|`(?:[^`]|``)+`|\[[^\]]+\])',
    r"(?P<parameter>\?(?![0-9])|:[^\W\d]\w*)",
    _NUMBER_OR_HEX,
    _WORD,
    _SYMBOL,
)
_POSTGRESQL_RULES = (
    _BLANK,
    r"(?P<comment>--[^\r\n]*|/\*)",
    _STRING,
    r'(?P<quoted>"(?:[^"]|"")+")',
    r"(?P<parameter>\$[1-9][0-9]{0,3}(?![\w$])|(?<![:\w\]]):[^\W\d]\w*)",
    _NUMBER,
    _WORD,
    _SYMBOL,
)
_DUCKDB_RULES = (
    _BLANK,
    r"(?P<comment>--[^\r\n]*|/\*)",
    _STRING,
    r'(?P<quoted>"(?:[^"]|"")+")',
    r"(?P<parameter>\$[1-9][0-9]{0,3}(?![\w$])|(?<![:\w\]]):[^\W\d]\w*)",
    _NUMBER,
    _WORD,
    r"(?P<symbol>::|[-+*/<>=~!%^&|.,;:()\[\]])",
)
_MYSQL_RULES = (
    _BLANK,
    # Comments with a number (`/*! */`) would run, so they become blanks like the others.
    r"(?P<comment>--(?=\s|\Z)[^\n]*|/\*(?:[^*]|\*(?!/))*\*/)",
    r"(?P<string>[xX]?'(?:[^'\\]|'')*')",
    r"(?P<quoted>`(?:[^`]|``)+`)",
    r"(?P<parameter>\?|:[^\W\d]\w*)",
    _NUMBER,
    _WORD,
    r"(?P<symbol>-(?!-)|/(?!\*)|[+*<>=~!%^&|.,;()])",
)


def _other_rules(dialect: OtherDialect) -> tuple[str, ...]:
    """Return rules for what every reading of a dialect shares: no backslash, no nested comment."""
    quoted = r"`(?:[^`\\]|``)+`" if dialect in _IN_BACKTICKS else r'"(?:[^"\\]|"")+"'
    signs = "" if dialect == "mssql" else r"\[\]"
    in_brackets = r"|\[[^\[\]\\]+\]" if dialect == "mssql" else ""
    doubled = "" if dialect in _WITHOUT_DOUBLED_QUOTES else "|''"
    return (
        _BLANK,
        r"(?P<comment>--[^\r\n]*|/\*(?:[^*]|\*(?!/))*\*/)",
        rf"(?P<string>'(?:[^'\\]{doubled})*')",
        rf"(?P<quoted>{quoted}{in_brackets})",
        r"(?P<parameter>\?|(?<![:\w\]]):[^\W\d]\w*)",
        _NUMBER,
        _WORD,
        rf"(?P<symbol>::|/(?![*/])|[-+*<>=~!%^&|.,;(){signs}])",
    )


_IN_BACKTICKS = frozenset({"bigquery", "databricks", "hive", "starrocks", "doris", "drill"})
"""Dialects that quote names so; in them `"` may begin a text."""

_WITHOUT_DOUBLED_QUOTES = frozenset({"bigquery", "databricks", "hive"})
"""Dialects in which `''` ends one text and begins another, or begins one in three quotes."""

_RULES: dict[Dialect, re.Pattern[str]] = {
    **{name: re.compile("|".join(_other_rules(name))) for name in get_args(OtherDialect)},
    "sqlite": re.compile("|".join(_SQLITE_RULES)),
    "postgresql": re.compile("|".join(_POSTGRESQL_RULES)),
    "mysql": re.compile("|".join(_MYSQL_RULES)),
    "duckdb": re.compile("|".join(_DUCKDB_RULES)),
}
_NESTS_COMMENTS = frozenset({"postgresql", "duckdb"})
_NESTED = re.compile(r"/\*|\*/")
_CLOSING = {")": "(", "]": "["}
_NO_BLANKS = re.compile(r"[^\n]")


def lex(sql: str, dialect: Dialect) -> LexedStatement:
    """Split a text into the tokens of one statement.

    Raises:
        InvalidRequest: There is none or more than one, or a part of it is ambiguous.
    """
    if len(sql) > MAX_SQL:
        raise InvalidRequest(
            f"The SQL has {len(sql)} characters; at most {MAX_SQL} are read. "
            "Pass data as parameters."
        )
    pieces: list[str] = []
    tokens: list[Token] = []
    for kind, text, start in _pieces(sql, dialect):
        if kind in {"blank", "comment"}:
            pieces.append(_NO_BLANKS.sub(" ", text))
        else:
            pieces.append(text)
            tokens.append(
                Token(kind=TokenKind(kind), text=text, name=_name(kind, text, dialect), start=start)
            )
    return _one_statement("".join(pieces), tokens)


def fold_case(name: str) -> str:
    """Fold the case of a name as both databases do: ASCII letters only."""
    return name.lower() if name.isascii() else name.translate(_FOLD)


_FOLD = str.maketrans({letter: letter.lower() for letter in "ABCDEFGHIJKLMNOPQRSTUVWXYZ"})


def _pieces(sql: str, dialect: Dialect) -> Iterator[tuple[str, str, int]]:
    rules = _RULES[dialect]
    at = 0
    previous = ""
    while at < len(sql):
        match = rules.match(sql, at)
        if match is None or match.lastgroup is None:
            raise InvalidRequest(_refusal(sql, at, dialect))
        kind, end = match.lastgroup, match.end()
        if kind == "comment" and dialect in _NESTS_COMMENTS and match.group() == "/*":
            end = _end_of_nested(sql, at)
        _refuse_ambiguous(sql, kind, previous, at, dialect)
        yield kind, sql[at:end], at
        previous = kind
        at = end


def _refuse_ambiguous(sql: str, kind: str, previous: str, start: int, dialect: Dialect) -> None:
    """Refuse adjacent tokens that databases and parsers split differently."""
    unicode_escape = kind in {"string", "quoted"} and sql[start - 1 : start] == "&"
    if unicode_escape or (previous, kind) in _NEVER_TOUCH:
        raise InvalidRequest(_refusal(sql, start, dialect))


_NEVER_TOUCH = frozenset(
    {
        ("number", "word"),
        ("number", "number"),
        ("word", "string"),
        ("word", "quoted"),
        ("string", "word"),
        ("string", "string"),
        ("quoted", "word"),
        ("quoted", "quoted"),
        ("parameter", "word"),
        ("parameter", "number"),
    }
)


def _end_of_nested(sql: str, start: int) -> int:
    depth = 0
    for match in _NESTED.finditer(sql, start):
        depth += 1 if match.group() == "/*" else -1
        if depth == 0:
            return match.end()
    raise InvalidRequest(f"A comment is not closed. {_place(sql, start)}")


def _one_statement(text: str, tokens: list[Token]) -> LexedStatement:
    while tokens and tokens[-1].text == ";":
        last = tokens.pop()
        text = text[: last.start].rstrip()
    if not tokens:
        raise InvalidRequest("There is no SQL statement.")
    if len(tokens) > MAX_TOKENS:
        raise InvalidRequest(
            f"The SQL has {len(tokens)} words and signs; at most {MAX_TOKENS} are read. "
            "Pass data as parameters."
        )
    _refuse_brackets(text, [token for token in tokens if token.kind is TokenKind.SYMBOL])
    return LexedStatement(text=text, tokens=tuple(tokens))


def _refuse_brackets(text: str, symbols: list[Token]) -> None:
    stack: list[str] = []
    subscripts = 0
    for token in symbols:
        if token.text == ";":
            raise InvalidRequest(
                f"Only one statement is run at a time. {_place(text, token.start)}"
            )
        if token.text in "([":
            stack.append(token.text)
            subscripts += token.text == "["
        elif token.text in _CLOSING and (not stack or stack.pop() != _CLOSING[token.text]):
            raise InvalidRequest(f"{token.text!r} closes nothing. {_place(text, token.start)}")
        if len(stack) > MAX_NESTING:
            raise InvalidRequest(
                f"Brackets are nested deeper than {MAX_NESTING}. Split the query with WITH."
            )
        if subscripts > MAX_SUBSCRIPTS or stack.count("[") > MAX_ARRAY_DEPTH:
            raise InvalidRequest(
                f"At most {MAX_SUBSCRIPTS} square brackets are read, {MAX_ARRAY_DEPTH} deep. "
                "Pass arrays as parameters."
            )


def _name(kind: str, text: str, dialect: Dialect) -> str:
    match kind:
        case "word":
            return fold_case(text)
        case "quoted" if text[0] == "[":
            return fold_case(text[1:-1])
        case "quoted":
            plain = text[1:-1].replace(text[0] * 2, text[0])
            return plain if dialect in _KEEPS_QUOTED_CASE else fold_case(plain)
        case "parameter":
            return text[1:]
        case _:
            return text


_READS_BACKSLASHES = frozenset({"sqlite", "postgresql", "mysql", "duckdb"})
_KEEPS_QUOTED_CASE = frozenset({"postgresql", "mysql"})


def _refusal(sql: str, at: int, dialect: Dialect) -> str:
    char = sql[at]
    place = _place(sql, at)
    if sql[at - 1 : at] == "&" and char in "'\"":
        return f"Unicode escapes are not read; write the character itself. {place}"
    if dialect not in _READS_BACKSLASHES and char in "'\"`[":
        return (
            f"Write texts in '...', and pass one with a quote or backslash as a parameter. {place}"
        )
    if dialect == "mysql" and char in "'\"":
        return (
            "Write texts in '...' and names in `...`, closed and apart from other words; pass a "
            f"text with a backslash as a parameter. {place}"
        )
    if char in "'\"`[":
        return f"A quote is not closed, or touches a word. {place}"
    if char == "$":
        return f"Dollar quoting is not read; write '...' or pass a parameter. {place}"
    if char in "\\{}" or not char.isprintable() or not char.isascii():
        return f"The character {char!r} has no place in SQL outside quotes. {place}"
    return f"{char!r} is not understood here. {place}"


def _place(sql: str, at: int) -> str:
    line = sql.count("\n", 0, at) + 1
    column = at - (sql.rfind("\n", 0, at) + 1) + 1
    return f"(line {line}, column {column})"
