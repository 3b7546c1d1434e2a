from pathlib import Path
from typing import Any

import pytest

from pegboard.errors import SourceUnavailable
from pegboard.sources.script.config import ScriptConfig
from pegboard.sources.script.description import Description
from pegboard.sources.script.permissions import Grant, grant_permissions


def grant(folder: Path, asked: dict[str, Any], given: dict[str, Any]) -> Grant:
    return grant_permissions(
        Description.model_validate({"description": "x", **asked}),
        ScriptConfig.model_validate({"paths": ["."], **given}),
        folder=folder / "scripts",
        base_dir=folder,
        environ={"TOKEN": "hunter22"},
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "scripts").mkdir()
    (tmp_path / "data" / "in").mkdir(parents=True)
    (tmp_path / "secret").mkdir()
    return tmp_path


def test_a_script_gets_nothing_that_it_does_not_ask_for(folder: Path) -> None:
    given = {"network": True, "readable": ["data"], "writable": ["."], "environment": ["TOKEN"]}

    got = grant(folder, {}, given)

    assert (got.network, got.readable, got.writable, got.environment) == (False, (), (), {})


def test_a_script_gets_what_it_asks_for_and_the_board_grants(folder: Path) -> None:
    asked = {"network": True, "readable": ["../data/in"], "environment": ["TOKEN"]}
    given = {"network": True, "readable": ["data"], "environment": ["TOKEN", "OTHER"]}

    got = grant(folder, asked, given)

    assert got.network
    assert got.readable == (folder / "data" / "in",)
    assert got.environment == {"TOKEN": "hunter22"}


def test_what_may_be_written_may_be_read(folder: Path) -> None:
    got = grant(folder, {"readable": ["../data"], "writable": ["../data"]}, {"writable": ["data"]})

    assert got.readable == got.writable == (folder / "data",)


def test_values_of_variables_are_not_shown(folder: Path) -> None:
    got = grant(folder, {"environment": ["TOKEN"]}, {"environment": ["TOKEN"]})

    assert "hunter22" not in repr(got)


@pytest.mark.parametrize(
    ("asked", "given", "reason"),
    [
        pytest.param({"network": True}, {}, "write 'network: true'", id="network"),
        pytest.param({"readable": ["."]}, {}, "into 'readable'", id="reading"),
        pytest.param(
            {"readable": ["../data/../secret"]}, {"readable": ["data"]}, "'readable'", id="climbing"
        ),
        pytest.param(
            {"writable": ["../data"]}, {"readable": ["data"]}, "into 'writable'", id="writing"
        ),
        pytest.param(
            {"readable": ["../data/no"]}, {"readable": ["data"]}, "does not exist", id="missing"
        ),
        pytest.param({"environment": ["TOKEN"]}, {}, "'environment'", id="a variable"),
        pytest.param(
            {"environment": ["GONE"]}, {"environment": ["GONE"]}, "GONE, which is not", id="unset"
        ),
    ],
)
def test_a_script_that_asks_for_more_says_what_to_write(
    folder: Path, asked: dict[str, Any], given: dict[str, Any], reason: str
) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        grant(folder, asked, given)

    assert reason in str(caught.value)


def test_a_link_out_of_what_is_granted_is_not_followed(folder: Path) -> None:
    (folder / "data" / "link").symlink_to(folder / "secret")

    with pytest.raises(SourceUnavailable, match="into 'readable'"):
        grant(folder, {"readable": ["../data/link"]}, {"readable": ["data"]})


def test_limits_of_a_script_come_before_those_of_the_board(folder: Path) -> None:
    limits = grant(folder, {"timeout": 3, "memory_mb": 64}, {"timeout": 9, "processes": 7}).limits

    assert (limits.timeout, limits.memory_bytes, limits.processes) == (3, 64 * 2**20, 7)
