"""The schema as SQLAlchemy's inspector reads it, here of a SQLite database in memory."""

from collections.abc import Iterator

import pytest
import sqlalchemy

from pegboard.sources.sql.catalog import ForeignKey, Table
from pegboard.sources.sql.drivers.sqlalchemy_schema import read_tables, select_sample


@pytest.fixture
def connection() -> Iterator[sqlalchemy.Connection]:
    engine = sqlalchemy.create_engine("sqlite://")
    with engine.connect() as opened:
        opened.execute(sqlalchemy.text("CREATE TABLE artist (id integer PRIMARY KEY, name text)"))
        opened.execute(
            sqlalchemy.text(
                'CREATE TABLE "Al bum" (id integer PRIMARY KEY, at wobble NOT NULL DEFAULT 5, '
                "artist_id int REFERENCES artist (id))"
            )
        )
        opened.execute(sqlalchemy.text("CREATE VIEW names AS SELECT name FROM artist"))
        yield opened
    engine.dispose()


def test_tables_and_views_are_read_with_keys_and_columns(
    connection: sqlalchemy.Connection,
) -> None:
    tables = {table.name: table for table in read_tables(connection, [""])}

    assert list(tables) == ["Al bum", "artist", "names"]
    album = tables["Al bum"]
    assert (album.schema, album.kind, album.primary_key) == ("", "table", ("id",))
    assert album.references == (
        ForeignKey(columns=("artist_id",), table=("", "artist"), to=("id",)),
    )
    at = album.columns[1]
    assert (at.name, at.nullable, at.default) == ("at", False, "5")
    assert (tables["names"].kind, tables["names"].opaque) == ("view", True)


@pytest.mark.parametrize(
    ("dialect", "expected"),
    [
        ("mssql", "SELECT TOP 3 sales.[Al bum].id FROM sales.[Al bum]"),
        ("oracle", 'SELECT sales."Al bum".id FROM sales."Al bum" FETCH FIRST 3 ROWS ONLY'),
        ("mysql", "SELECT sales.`Al bum`.id FROM sales.`Al bum` LIMIT 3"),
    ],
)
def test_a_sample_is_selected_in_the_words_of_the_dialect(dialect: str, expected: str) -> None:
    statement = select_sample(Table(schema="sales", name="Al bum"), ["id"], 3)
    compiled = statement.compile(
        dialect=sqlalchemy.make_url(f"{dialect}://").get_dialect()(),
        compile_kwargs={"literal_binds": True},
    )

    assert " ".join(str(compiled).split()) == expected
