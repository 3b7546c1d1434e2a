import pytest

from pegboard.errors import ConfigError
from pegboard.runtime.plugins import list_kinds, load_kind


def test_the_kinds_that_come_with_pegboard_are_known() -> None:
    assert {"functions", "builtin", "sql"} <= list_kinds().keys()


def test_a_kind_is_loaded_by_its_name() -> None:
    assert load_kind("functions").kind == "functions"


def test_an_unknown_kind_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match="there is no source kind 'function'; did you mean"):
        load_kind("function")


def test_an_unknown_kind_that_is_near_to_none_lists_all() -> None:
    with pytest.raises(ConfigError, match="known are agents, builtin, functions, knowledge"):
        load_kind("zzz")
