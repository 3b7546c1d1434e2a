"""What the rest of the source needs to know about each dialect of SQL."""

from dataclasses import dataclass
from typing import Literal

from pegboard.sources.sql.lexer import Dialect, fold_case


@dataclass(frozen=True, slots=True, kw_only=True)
class DialectRules:
    """The facts of one dialect.

    Attributes:
        title: Its name, as people write it.
        parser: Its name in sqlglot.
        names: How names of tables compare: `any case`, `quoted exact` (unquoted ones are folded) or
            `exact`.
        quote: The character around a quoted name.
        mark: How parameters by position are written, for messages.
        binding: Whether the driver takes parameters as they are written (`native`), as `$1`
            (`numbered`), or as literals in the text (`literal`).
        arrays: Whether a parameter may be an array.
        row_types: Whether each table is also a type, which lists its columns.
        implicit_recursion: Whether a WITH query may name itself without RECURSIVE.
        parses_question_marks: Whether sqlglot must see each parameter as a question mark.
    """

    title: str
    parser: str
    names: Literal["any case", "quoted exact", "exact"] = "any case"
    quote: str = '"'
    mark: str = "?"
    binding: Literal["native", "numbered", "literal"] = "native"
    arrays: bool = False
    row_types: bool = False
    implicit_recursion: bool = False
    parses_question_marks: bool = False

    def spell(self, name: str, *, quoted: bool) -> str:
        """Return a name of a statement as the database reads it."""
        if self.names == "exact" or (self.names == "quoted exact" and quoted):
            return name
        return fold_case(name)

    def table_key(self, name: str) -> str:
        """Return what two names of the same table have in common."""
        return fold_case(name) if self.names == "any case" else name

    def quote_name(self, name: str) -> str:
        """Return a name in quotes."""
        return self.quote + name.replace(self.quote, self.quote * 2) + self.quote


DIALECTS: dict[Dialect, DialectRules] = {
    "sqlite": DialectRules(title="SQLite", parser="sqlite", implicit_recursion=True),
    "postgresql": DialectRules(
        title="PostgreSQL",
        parser="postgres",
        names="quoted exact",
        mark="$1, $2, ...",
        binding="numbered",
        arrays=True,
        row_types=True,
    ),
    "mysql": DialectRules(
        title="MySQL", parser="mysql", names="exact", quote="`", binding="literal"
    ),
    "duckdb": DialectRules(
        title="DuckDB",
        parser="duckdb",
        mark="$1, $2, ...",
        binding="numbered",
        arrays=True,
        parses_question_marks=True,  # it takes `$1 ...` for the start of a text in dollar quotes
    ),
}
