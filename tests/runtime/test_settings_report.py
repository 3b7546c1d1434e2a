"""The settings in force, and where each comes from."""

from pathlib import Path

import pytest
from pydantic import SecretStr

from pegboard.runtime.board_file.load import parse_board
from pegboard.runtime.settings import Settings
from pegboard.runtime.settings_report import (
    SettingInForce,
    group_of,
    list_board_sections,
    report_settings,
)


def reported(settings: Settings, **environment: str) -> dict[str, SettingInForce]:
    return {item.name: item for item in report_settings(settings, environment)}


def test_each_setting_says_where_its_value_comes_from() -> None:
    environment = {"PEGBOARD_PORT": "9000", "PEGBOARD_HOST": "0.0.0.0"}
    settings = Settings.from_environment(environment).replace(host="127.0.0.2", data=Path("d"))

    found = reported(settings, **environment)

    assert {
        name: (found[name].value, found[name].origin, found[name].is_overridden)
        for name in ("port", "host", "data", "log")
    } == {
        "port": (9000, "environment", False),
        "host": ("127.0.0.2", "program", True),
        "data": ("d", "program", False),
        "log": ("auto", "default", False),
    }
    assert found["port"].variable == "PEGBOARD_PORT"


def test_no_secret_is_told_in_part_or_whole() -> None:
    settings = Settings(
        token=SecretStr("hunter2hunter2"),
        database=SecretStr("postgresql://ada:hunter2@host/board"),
        search_url="https://ada:hunter2@searx.example/search?q=1",
    )

    found = reported(settings)

    assert "hunter2" not in repr(found)
    assert (found["token"].value, found["token"].is_set) == (None, True)
    assert (found["smtp_url"].is_secret, found["smtp_url"].is_set) == (True, False)
    assert found["search_url"].value == "https://***@searx.example/search?q=1"


def test_variables_that_are_wrong_by_now_stop_no_report() -> None:
    assert reported(Settings(port=1), PEGBOARD_PORT="many")["port"].origin == "program"


@pytest.mark.parametrize("name", Settings.model_fields)
def test_each_setting_has_a_group_of_its_own_and_a_description(name: str) -> None:
    named = {"host", "port", "token", "public_url", "url", "trusted_proxies", "header_timeout"}
    assert (group_of(name) == "server") == (name in named)
    assert reported(Settings())[name].description


def test_what_the_board_file_sets_is_listed_with_its_line(tmp_path: Path) -> None:
    text = "sources:\n  - {kind: builtin, name: std}\npolicy:\n  ask: [std__x]\n"
    loaded = parse_board(text, {}, path=tmp_path / "board.yaml")

    found = [(item.name, item.place, item.entries) for item in list_board_sections(loaded)]

    assert found == [("sources", "board.yaml:1", 1), ("policy", "board.yaml:3", None)]
