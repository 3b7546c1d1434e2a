"""What the texts of MySQL and MariaDB name."""

from collections.abc import Sequence
from typing import Any

import pytest
from tests.sources.sql.conftest import mysql_connection

from pegboard.sources.sql.drivers.mysql_schema import find_calls, find_names, read_tables


@pytest.mark.parametrize(
    ("text", "names", "calls"),
    [
        (
            "select `a`.`id` AS `id` from (`v`.`x` `a` join `v`.`y``z` `b`)",
            [("a", "id"), ("v", "x"), ("v", "y`z")],
            [],
        ),
        ("select `v`.`x`.`id` AS `v.y` from `v`.`x`", [("v", "x"), ("v", "x")], []),
        ("select '`v`.`y`' AS `a`, 'it''s \\' `v`.`z`' AS `b` from `v`.`x`", [("v", "x")], []),
        ("select `tell`() AS `tell()`, `v`.`f`(1), count(0)", [("v", "f")], ["tell", "v.f"]),
    ],
)
def test_names_and_calls_are_found_outside_of_texts(
    text: str, names: list[tuple[str, str]], calls: list[str]
) -> None:
    assert list(find_names(text)) == names
    assert list(find_calls(text)) == calls


def test_the_schema_knows_what_everything_reads(mariadb: str) -> None:
    with mysql_connection(mariadb) as connection, connection.cursor() as cursor:

        def fetch(sql: str, parameters: list[Any] | None) -> Sequence[tuple[Any, ...]]:
            cursor.execute(sql, parameters)
            return cursor.fetchall()

        tables = {table.name: table for table in read_tables(fetch, "vault")}

    assert tables["managers"].reads == {("vault", "staff"), ("vault", "employee")}
    assert (("vault", "employee"), "secret") in tables["managers"].shows
    assert tables["letters"].shows == {
        (("vault", "customer"), "name"),
        (("vault", "customer"), "email"),
    }
    assert tables["told"].opaque
    assert not tables["discs"].opaque
    assert tables["users"].reads == {("mysql", "user")}
    assert tables["artist"].reads == frozenset()
