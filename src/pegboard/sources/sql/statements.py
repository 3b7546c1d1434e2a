"""What kind of statement a text begins, and what to say when it is not one we run."""

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.lexer import Dialect, Kind, Lexed

_NAMES = """
verbose costs settings summary format generic_plan memory text json on off true false
"""
_EXPLAIN_OPTIONS = frozenset(_NAMES.split())
_CHANGES_DATA = frozenset({"insert", "update", "delete", "replace", "merge", "truncate", "copy"})
_CHANGES_MORE = frozenset(
    {"create", "alter", "drop", "comment", "grant", "revoke", "reindex", "vacuum", "analyze"}
)


def explained(lexed: Lexed, dialect: Dialect) -> tuple[Lexed, bool]:
    """The statement without a leading EXPLAIN, and whether there was one.

    Raises:
        InvalidRequest: It is an EXPLAIN that would run the statement.
    """
    words = [token.name if token.kind is Kind.WORD else token.text for token in lexed.tokens]
    if words[0] != "explain":
        return lexed, False
    skip = 1
    if dialect == "sqlite":
        skip = 3 if words[1:3] == ["query", "plan"] else 1
    elif words[1:2] == ["("]:
        end = words.index(")") if ")" in words else len(words)
        _refuse_options(set(words[2:end]) - {","})
        skip = end + 1
    else:
        while words[skip : skip + 1] == ["verbose"]:
            skip += 1
        _refuse_options({"analyze"} & set(words[skip : skip + 1]))
    if skip >= len(words):
        raise InvalidRequest("EXPLAIN needs a statement.")
    start = lexed.tokens[skip].start
    return Lexed(text=" " * start + lexed.text[start:], tokens=lexed.tokens[skip:]), True


def _refuse_options(options: set[str]) -> None:
    refused = options - _EXPLAIN_OPTIONS
    if refused:
        names = ", ".join(sorted(refused)).upper()
        raise InvalidRequest(f"EXPLAIN {names} is not allowed: it may run the statement.")


def first_word_refusal(lexed: Lexed, roots: frozenset[str], *, writes: bool) -> str:
    """Why a statement that begins like this is not run; empty when it may go on."""
    first = next((token for token in lexed.tokens if token.text != "("), lexed.tokens[0])
    if first.kind is Kind.WORD and first.name in roots:
        return ""
    shown = first.text.upper() if first.kind is Kind.WORD else first.text
    if first.name == "replace" and "insert" in roots:
        return "Write INSERT OR REPLACE instead of REPLACE."
    if first.name in _CHANGES_MORE:
        return f"{shown} changes more than rows; that is not offered here."
    if first.name in _CHANGES_DATA:
        where = "Use the execute tool to change data." if writes else "This database is read-only."
        return f"{shown} changes data; only queries are run here. {where}"
    starts = " or ".join(sorted(word.upper() for word in roots))
    return f"A statement begins with {starts} here, not with '{shown}'."
