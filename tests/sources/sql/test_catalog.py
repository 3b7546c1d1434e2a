"""What of a database can be seen, by the operator's word."""

from typing import Any

import pytest

from pegboard.sources.sql.catalog import (
    Catalog,
    Column,
    ForeignKey,
    Table,
    build_catalog,
    label,
    nearest,
)
from pegboard.sources.sql.config import SqlConfig


def _table(name: str, columns: str = "id", *, schema: str = "public", **fields: Any) -> Table:
    return Table(
        schema=schema,
        name=name,
        columns=tuple(Column(name=column, type="text") for column in columns.split()),
        **fields,
    )


def _catalog(*tables: Table, triggers: tuple[str, ...] = (), **config: Any) -> Catalog:
    settings = SqlConfig.model_validate({"url": "postgresql://h/d", **config})
    return build_catalog(settings, tables, triggers=triggers)


_READS_SECRET = frozenset({("public", "secret")})


@pytest.mark.parametrize(
    ("config", "seen"),
    [
        ({}, ["copy", "open", "secret", "view"]),
        ({"hidden_tables": ("secret",)}, ["open"]),
        ({"hidden_tables": ("SECRET",)}, ["open"]),
        ({"hidden_tables": ("public.secret",)}, ["open"]),
        ({"hidden_tables": ("sec*",)}, ["open"]),
        ({"hidden_tables": ("other.secret",)}, ["copy", "open", "secret", "view"]),
        ({"hidden_tables": ("secret",), "allow_views": ("view",)}, ["open", "view"]),
        ({"hidden_columns": {"secret": ("id",)}}, ["copy", "open", "secret"]),
        ({"hidden_columns": {"secret": ("x",)}}, ["copy", "open", "secret", "view"]),
        ({"hidden_tables": ("*",)}, []),
    ],
    ids=str,
)
def test_views_disappear_with_what_they_read(config: dict[str, Any], seen: list[str]) -> None:
    shows = frozenset({(("public", "secret"), "id")})
    catalog = _catalog(
        _table("secret"),
        _table("open"),
        _table("view", kind="view", reads=_READS_SECRET, shows=shows),
        _table("copy", kind="materialized view", reads=_READS_SECRET),
        **config,
    )

    assert list(catalog.tables) == seen


def test_a_view_that_calls_own_functions_disappears_only_when_something_is_hidden() -> None:
    told = _table("told", kind="view", opaque=True)

    assert list(_catalog(told).tables) == ["told"]
    assert list(_catalog(told, hidden_tables=("x",)).tables) == []
    assert list(_catalog(told, hidden_tables=("x",), allow_views=("told",)).tables) == ["told"]


def test_parts_of_a_hidden_table_are_hidden_and_take_its_hidden_columns() -> None:
    part = _table("part", "id email", part_of=frozenset({("public", "whole")}))
    whole = _table("whole", "id email", reads=frozenset({("public", "part")}))

    assert list(_catalog(whole, part, hidden_tables=("whole",)).tables) == []
    assert list(_catalog(whole, part, hidden_tables=("part",)).tables) == []
    assert _catalog(whole, part, hidden_columns={"whole": ("Email",)}).hidden == {
        ("public", "whole"): frozenset({"email"}),
        ("public", "part"): frozenset({"email"}),
    }


def test_postgresql_names_are_exact_and_searched_along_the_schemas() -> None:
    catalog = _catalog(
        _table("A", schema="second"),
        _table("a", schema="first"),
        _table("a", schema="second"),
        schemas=("first", "second"),
    )

    assert list(catalog.tables) == ["a", "second.A", "second.a"]
    assert catalog.find("", "A") is catalog.tables["second.A"]
    assert catalog.find("", "a") is catalog.tables["a"]
    assert catalog.find("second", "a") is catalog.tables["second.a"]
    assert catalog.find("third", "a") is None


def test_sqlite_names_know_no_case() -> None:
    catalog = _catalog(_table("Artist", schema="main"), url="sqlite:///x.db")

    assert catalog.find("", "ARTIST") is catalog.find("main", "artist") is not None
    assert catalog.find("temp", "artist") is None


@pytest.mark.parametrize("text", ["Artist", "artist", " ARTIST ", "main.artist", '"Artist"'])
def test_people_name_tables_as_they_like(text: str) -> None:
    catalog = _catalog(_table("Artist", schema="main"), url="sqlite:///x.db")

    assert catalog.find_by_label(text) is catalog.tables["Artist"]
    assert catalog.find_by_label("Artis") is None
    assert catalog.nearest("main.Artis") == ("Artist",)


def test_what_the_configuration_names_in_vain_is_found() -> None:
    catalog = _catalog(
        _table("customer", "id email"),
        hidden_tables=("customers", "cust*"),
        hidden_columns={"customer": ("email", "mail"), "x": ("y",)},
        allow_views=("v",),
    )

    assert catalog.unmatched == ("customers", "v", "customer.mail", "x.y")


def test_names_that_a_statement_may_not_use_for_itself() -> None:
    catalog = _catalog(
        _table("View", kind="view", reads=_READS_SECRET),
        _table("secret"),
        hidden_tables=("secret",),
        allow_views=("view",),
        triggers=("Noted",),
    )

    assert catalog.reserved == {"view", "noted"}
    assert catalog.triggers == {"noted"}
    assert catalog.taken == {"view", "secret"}
    assert catalog.touchable == {("public", "View"), ("public", "secret")}


def test_foreign_keys_link_columns_on_both_sides_also_of_hidden_tables() -> None:
    catalog = _catalog(
        _table(
            "Customer",
            "id rep",
            references=(ForeignKey(columns=("Rep",), table=("public", "staff"), to=()),),
        ),
        _table("staff", primary_key=("Id",)),
        hidden_tables=("staff",),
    )

    assert catalog.linked == {("customer", "rep"), ("staff", "id")}


def test_labels_and_nearest_names() -> None:
    config = SqlConfig.model_validate({"url": "postgresql://h/d"})

    assert label(config, ("public", "a")) == "a"
    assert label(config, ("other", "a")) == "other.a"
    assert nearest("ARTST", ["Artist", "Album"]) == ("Artist",)
    assert nearest("zzz", ["Artist"]) == ()
