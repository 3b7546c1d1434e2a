"""What the migrations make of an empty SQLite file, as a program that writes it to its file."""

from collections.abc import Iterator

from sqlalchemy import Connection, create_engine

from pegboard.storage.migrate import EMPTY_SQLITE, REVISIONS, migrate


def migrated_schema() -> str:
    """The statements that make a database like that of the migrations, a line each."""
    engine = create_engine("sqlite://")
    with engine.connect() as connection, connection.begin():
        migrate(connection, 0.0, to=REVISIONS[-1])
        text = schema_of(connection)
    engine.dispose()
    return text


def schema_of(connection: Connection) -> str:
    """The statements that make the tables and indexes of a database and insert its rows."""
    return "".join(f"{line};\n" for line in _statements(connection))


def _statements(connection: Connection) -> Iterator[str]:
    rows = connection.exec_driver_sql("SELECT name, type, sql FROM sqlite_schema WHERE sql > ''")
    made = [row for row in rows if not row.name.startswith("sqlite_")]
    for item in made:
        yield " ".join(item.sql.rstrip(";\n ").split())
    for item in made:
        if item.type == "table":
            for row in connection.exec_driver_sql(f"SELECT * FROM {item.name}"):
                yield f"INSERT INTO {item.name} VALUES {tuple(row)}".replace(",)", ")")


if __name__ == "__main__":
    EMPTY_SQLITE.write_text(migrated_schema(), encoding="utf-8")
