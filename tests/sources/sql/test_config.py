"""The operator's section of a database."""

from typing import Any

import pytest
from pydantic import ValidationError

from pegboard.sources.sql.config import SqlConfig


@pytest.mark.parametrize(
    ("url", "dialect", "file"),
    [
        ("sqlite:///shop.db", "sqlite", "shop.db"),
        ("sqlite:////srv/shop.db", "sqlite", "/srv/shop.db"),
        ("sqlite:///my%20shop.db?x=y", "sqlite", "my shop.db"),
        ("sqlite+aiosqlite:///shop.db", "sqlite", "shop.db"),
        ("postgresql://u:p@h/d", "postgresql", ""),
        ("postgres://u:p@h/d", "postgresql", ""),
        ("postgresql+psycopg://u:p@h/d", "postgresql", ""),
        ("mssql+pyodbc://u:p@h/d?driver=x", "mssql", ""),
    ],
)
def test_urls_as_they_are_written_elsewhere_are_read(url: str, dialect: str, file: str) -> None:
    config = SqlConfig.model_validate({"url": url})

    assert config.dialect == dialect
    if dialect == "sqlite":
        assert config.database_file == file
    else:
        assert config.conninfo.partition("?")[0] == "postgresql://u:p@h/d"


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"url": "firebird://u:hush@h/d"}, "write sqlite:///file.db"),
        ({"url": "shop.db"}, "write sqlite:///file.db"),
        ({"url": "sqlite://"}, "name a file"),
        ({"url": "duckdb:///:memory:"}, "name a file: duckdb:///file.db"),
        ({"url": "sqlite:///:memory:"}, "name a file"),
        ({"url": "sqlite://host/file.db"}, "name a file"),
        ({"url": "postgresql://u:hush@h/d", "statement_timeout": 0}, "greater than 0"),
        ({"url": "postgresql://u:hush@h/d", "max_rows": 0}, "greater than or equal to 1"),
        ({"url": "postgresql://u:hush@h/d", "hiden_tables": ["x"]}, "Extra inputs"),
        ({"url": "postgresql://u:hush@h/d", "tools": ["query", "execute"]}, "needs allow_writes"),
        ({"url": "postgresql://u:hush@h/d", "tools": []}, "at least 1 item"),
        ({}, "Field required"),
    ],
)
def test_a_mistake_is_said_without_the_password(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message) as refused:
        SqlConfig.model_validate(settings)

    assert "hush" not in str(refused.value)


def test_the_password_is_in_no_representation() -> None:
    config = SqlConfig.model_validate({"url": "postgresql://u:hush@h/d"})

    assert "hush" not in f"{config!r} {config} {config.model_dump_json()}"
