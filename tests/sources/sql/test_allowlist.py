"""The allowed functions are those that compute and do nothing else."""

import sqlite3

import psycopg

from pegboard.sources.sql.allowlist import KEYWORDS, function_names

_CLOCKS_AND_DICE = {
    "clock_timestamp",
    "timeofday",
    "random",
    "random_normal",
    "gen_random_uuid",
    "uuidv4",
    "uuidv7",
    "array_sample",
    "array_shuffle",
}
_SAMPLING_METHODS = {"bernoulli", "system"}  # of TABLESAMPLE: they take what no statement can give


def test_postgresql_calls_none_of_them_volatile_but_clocks_and_dice(postgres_server: str) -> None:
    with psycopg.connect(postgres_server) as connection:
        rows = connection.execute(
            "SELECT DISTINCT proname FROM pg_proc WHERE provolatile = 'v' AND proname = ANY(%s)",
            [list(function_names("postgresql"))],
        ).fetchall()

    assert {name for (name,) in rows} <= _CLOCKS_AND_DICE | _SAMPLING_METHODS


def test_postgresql_lets_anybody_call_each_of_them(postgres_server: str) -> None:
    with psycopg.connect(postgres_server) as connection:
        rows = connection.execute(
            "SELECT proname FROM pg_proc WHERE proname = ANY(%s) AND proacl IS NOT NULL "
            "AND NOT has_function_privilege('public', oid, 'EXECUTE')",
            [list(function_names("postgresql"))],
        ).fetchall()

    assert rows == []


def test_none_of_them_takes_the_name_of_a_table_or_a_query(postgres_server: str) -> None:
    with psycopg.connect(postgres_server) as connection:
        rows = connection.execute(
            "SELECT proname FROM pg_proc p, unnest(p.proargtypes) AS argument "
            "WHERE proname = ANY(%s) AND prokind = 'f' "
            "AND argument = ANY(ARRAY['regclass', 'refcursor', 'regproc']::regtype[]::oid[])",
            [list(function_names("postgresql"))],
        ).fetchall()

    assert rows == []


def test_sqlite_knows_nothing_harmful_among_them() -> None:
    connection = sqlite3.connect(":memory:")
    known = {name for (name,) in connection.execute("SELECT name FROM pragma_function_list")}
    connection.close()
    harmful = {
        "load_extension",
        "fts3_tokenizer",
        "sqlite_log",
        "readfile",
        "writefile",
        "edit",
        "last_insert_rowid",
        "changes",
        "total_changes",
    }

    assert function_names("sqlite").isdisjoint(harmful)
    assert len(function_names("sqlite") & known) > 100


def test_no_keyword_is_a_function_that_postgresql_has(postgres_server: str) -> None:
    with psycopg.connect(postgres_server) as connection:
        rows = connection.execute(
            "SELECT DISTINCT proname FROM pg_proc WHERE proname = ANY(%s)", [list(KEYWORDS)]
        ).fetchall()

    assert {name for (name,) in rows} <= {"like", "left", "range"}
