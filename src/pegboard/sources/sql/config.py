"""Configuration of a database source."""

from collections.abc import Mapping
from typing import Annotated, Literal, Self
from urllib.parse import unquote, urlsplit

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator, model_validator

from pegboard.sources.sql.dialects import DIALECTS, OTHER_DIALECTS
from pegboard.sources.sql.lexer import Dialect

_SCHEMES: dict[str, Dialect] = {
    **{name: name for name in OTHER_DIALECTS},
    "sqlite": "sqlite",
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "mysql": "mysql",
    "mariadb": "mysql",
    "duckdb": "duckdb",
}
_FILES = frozenset({"sqlite", "duckdb"})
_FORMS = (
    "sqlite:///file.db, duckdb:///file.duckdb, postgresql://user:password@host/database, "
    "mysql://user:password@host/database, or a URL of SQLAlchemy that begins with one of "
    f"{', '.join(OTHER_DIALECTS)}"
)


class SqlConfig(BaseModel):
    """The `config:` section of a `kind: sql` source."""

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    url: Annotated[
        SecretStr,
        Field(
            title="Address of the database",
            description="sqlite:///file.db or duckdb:///file.duckdb (relative to the board, or "
            "absolute with four slashes), postgresql://user:password@host/database, or "
            "mysql://user:password@host/database (also for MariaDB); for other databases the URL "
            "that SQLAlchemy reads, as mssql+pyodbc://user:password@host/database?driver=...",
            json_schema_extra={"x-first": True},
        ),
    ]
    description: Annotated[
        str,
        Field(
            title="What it holds",
            description="What this database holds; models read it with each tool",
            json_schema_extra={"x-first": True},
        ),
    ] = ""
    schemas: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            description="Schemas that are visible, the first one is the default; without it "
            "`public` in PostgreSQL, `main` in DuckDB, and the database's default elsewhere",
        ),
    ] = ("public",)
    hidden_tables: Annotated[
        tuple[str, ...],
        Field(
            description="Tables and views that are neither listed nor reachable; "
            "`name` or `schema.name`, `*` matches any characters"
        ),
    ] = ()
    hidden_columns: Annotated[
        Mapping[str, tuple[str, ...]],
        Field(description="Columns that are neither listed nor reachable, by table"),
    ] = {}
    allow_views: Annotated[
        tuple[str, ...],
        Field(description="Views that may be read although they read hidden tables"),
    ] = ()
    allow_functions: Annotated[
        tuple[str, ...],
        Field(description="SQL functions to allow in addition to the built-in list"),
    ] = ()
    allow_writes: Annotated[
        bool, Field(description="Offer INSERT, UPDATE and DELETE as a tool of effect write")
    ] = False
    tools: Annotated[
        tuple[Literal["list_tables", "describe_table", "query", "execute"], ...],
        Field(min_length=1, description="The tools to offer; `execute` needs `allow_writes`"),
    ] = ("list_tables", "describe_table", "query", "execute")
    statement_timeout: Annotated[
        float, Field(gt=0, le=3600, description="Seconds after which a statement is interrupted")
    ] = 10.0
    connect_timeout: Annotated[
        float, Field(ge=2, le=60, description="Seconds to wait for a connection")
    ] = 5.0
    max_rows: Annotated[int, Field(ge=1, le=100_000, description="Rows in one answer")] = 500
    max_result_bytes: Annotated[
        int, Field(ge=1024, le=2**28, description="Bytes of JSON in one answer")
    ] = 2**20
    max_value_bytes: Annotated[
        int, Field(ge=1024, le=2**28, description="Bytes of one value, also during computation")
    ] = 2**20
    max_affected_rows: Annotated[
        int, Field(ge=1, description="A write that affects more rows is rolled back")
    ] = 100
    max_connections: Annotated[int, Field(ge=1, le=64, description="Statements at once")] = 4
    sample_values: Annotated[
        int, Field(ge=0, le=20, description="Example values shown for each column; 0 for none")
    ] = 3
    descriptions: Annotated[
        Mapping[str, str],
        Field(description="What tables (`table`) and columns (`table.column`) mean"),
    ] = {}

    @field_validator("url")
    @classmethod
    def _known_scheme(cls, url: SecretStr) -> SecretStr:
        if _scheme(url) not in _SCHEMES:
            raise ValueError(f"write {_FORMS}")
        return url

    @model_validator(mode="after")
    def _file_is_named(self) -> Self:
        if self.dialect in _FILES and self.database_file in {"", ":memory:"}:
            scheme = f"{self.dialect}:///file.db"
            raise ValueError(f"name a file: {scheme} (an in-memory database is empty)")
        return self

    @model_validator(mode="after")
    def _check_execute(self) -> Self:
        is_asked_for = "tools" in self.model_fields_set and "execute" in self.tools
        if is_asked_for and not self.allow_writes:
            raise ValueError("the tool execute needs allow_writes: true")
        return self

    @model_validator(mode="after")
    def _check_writes(self) -> Self:
        rules = DIALECTS[self.dialect]
        if self.allow_writes and not rules.takes_writes:
            raise ValueError(f"remove allow_writes: writing is not offered for {rules.title}")
        return self

    @property
    def dialect(self) -> Dialect:
        """The kind of database."""
        return _SCHEMES[_scheme(self.url)]

    @property
    def database_file(self) -> str:
        """The path in a SQLite or DuckDB URL as written; empty without one."""
        host, slash, path = self.url.get_secret_value().partition("://")[2].partition("/")
        return "" if host or not slash else unquote(path.partition("?")[0])

    @property
    def search_path(self) -> tuple[str, ...]:
        """The visible schemas as the database names them; the first is the default.

        An empty name is the default schema of the connection.
        """
        if self.dialect == "sqlite":
            return ("main",)
        if self.dialect == "mysql":
            return (unquote(urlsplit(self.url.get_secret_value()).path.strip("/")),)
        if self.dialect == "duckdb" and "schemas" not in self.model_fields_set:
            return ("main",)
        if not DIALECTS[self.dialect].native and "schemas" not in self.model_fields_set:
            return ("",)
        return self.schemas

    @property
    def conninfo(self) -> str:
        """The PostgreSQL URL in the form of libpq."""
        return "postgresql://" + self.url.get_secret_value().partition("://")[2]


def _scheme(url: SecretStr) -> str:
    """Return the scheme without the driver that SQLAlchemy URLs have behind a plus sign."""
    return url.get_secret_value().partition("://")[0].partition("+")[0].lower()
