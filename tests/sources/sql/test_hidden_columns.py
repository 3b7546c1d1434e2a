"""Statements near a hidden column that may run; what may not is in `attacks`."""

import pytest

from pegboard.errors import InvalidRequest
from pegboard.sources.sql.catalog import Catalog, Column, Table, build_catalog
from pegboard.sources.sql.config import SqlConfig
from pegboard.sources.sql.statement_guard import StatementGuard


@pytest.fixture
def guarded() -> tuple[StatementGuard, Catalog]:
    config = SqlConfig.model_validate(
        {"url": "postgresql://h/d", "hidden_columns": {"customer": ["email"]}}
    )
    tables = [
        Table(
            schema="public",
            name=name,
            columns=tuple(Column(name=column, type="text") for column in columns.split()),
        )
        for name, columns in {
            "customer": "id name email",
            "company": "id email owner",
        }.items()
    ]
    return StatementGuard(config), build_catalog(config, tables)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT id, name FROM customer",
        "SELECT count(*) FROM customer",
        "SELECT * FROM (SELECT id FROM customer) AS c",
        "WITH c AS (SELECT id FROM customer) SELECT * FROM c",
        "SELECT m.* FROM company m JOIN customer c ON c.id = m.owner",
        "SELECT m.email FROM company m JOIN customer c ON c.id = m.owner",
        "SELECT company.email, customer.name FROM company, customer",
        "SELECT email FROM company",
        "SELECT * FROM company",
        "SELECT c.name FROM customer c JOIN company USING (id)",
        "SELECT name AS address FROM customer ORDER BY address",
        "SELECT max(name) FROM customer GROUP BY id HAVING count(*) > 1",
    ],
)
def test_what_leaves_the_hidden_column_alone_passes(
    guarded: tuple[StatementGuard, Catalog], sql: str
) -> None:
    guard, catalog = guarded

    assert guard.read(sql, catalog).kind == "query"


@pytest.mark.parametrize(
    ("sql", "message"),
    [
        ("SELECT email FROM company, customer", "Unknown column 'email' in 'customer'"),
        ("SELECT * FROM company, customer", r"columns of 'customer' instead of \*: id, name"),
        ("SELECT nam.emai FROM customer nam", "Unknown column 'emai' in 'customer'"),
        ("SELECT c.nme FROM customer c", "Did you mean name"),
        ("SELECT customer.company FROM customer", "Its columns: id, name."),
        ("SELECT x.email FROM customer c, LATERAL (SELECT c.*) x", "instead of c"),
        ("SELECT (ROW(c)).f1 FROM customer c", "instead of a whole row"),
    ],
)
def test_where_it_is_not_sure_the_answer_says_what_to_write(
    guarded: tuple[StatementGuard, Catalog], sql: str, message: str
) -> None:
    guard, catalog = guarded

    with pytest.raises(InvalidRequest, match=message):
        guard.read(sql, catalog)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT (NULL::salary).amount",
        "SELECT to_json(NULL::salary)",
        "SELECT to_json(CAST(NULL AS public.salary))",
        "SELECT to_json(ARRAY[]::salary[])",
        "SELECT to_json(NULL::_salary)",
        'SELECT to_json(NULL::"salary")',
        "SELECT to_json(NULL::SALARY)",
        "SELECT json_populate_record(NULL::customer, '{}')",
        "SELECT to_json(NULL::private.salaries)",
        "SELECT to_json(NULL::struct)",
    ],
)
def test_the_row_type_of_what_is_hidden_cannot_be_named(sql: str) -> None:
    config = SqlConfig.model_validate(
        {
            "url": "postgresql://h/d",
            "hidden_tables": ["salary", "struct"],
            "hidden_columns": {"customer": ["email"]},
        }
    )
    catalog = build_catalog(config, [a_table("salary"), a_table("struct"), a_table("customer")])

    with pytest.raises(InvalidRequest, match=r"does not exist|is not available here"):
        StatementGuard(config).read(sql, catalog)


@pytest.mark.parametrize(
    "sql",
    [
        "SELECT NULL::mood, '1'::citext, x::numeric(10, 2), 'a'::pg_catalog.text FROM company",
        "SELECT json_populate_record(NULL::company, '{}'), ARRAY[]::company[]",
    ],
)
def test_other_types_can_be_named(guarded: tuple[StatementGuard, Catalog], sql: str) -> None:
    guard, catalog = guarded

    assert guard.read(sql, catalog).kind == "query"


def test_a_row_with_hidden_columns_is_not_replaced() -> None:
    config = SqlConfig.model_validate(
        {"url": "sqlite:///a.db", "hidden_columns": {"customer": ["email"]}}
    )
    tables = [a_table("customer", schema="main"), a_table("company", schema="main")]
    guard, catalog = StatementGuard(config), build_catalog(config, tables)

    with pytest.raises(InvalidRequest, match="would empty hidden columns of 'customer'"):
        guard.write("INSERT OR REPLACE INTO customer (id, name) VALUES (1, 'a')", catalog)

    assert guard.write("INSERT OR REPLACE INTO company (id, name) VALUES (1, 'a')", catalog)
    assert guard.write("INSERT OR IGNORE INTO customer (id, name) VALUES (1, 'a')", catalog)


def a_table(name: str, *, schema: str = "public") -> Table:
    columns = tuple(Column(name=column, type="text") for column in ("id", "name", "email"))
    return Table(schema=schema, name=name, columns=columns)
