from pathlib import Path

import pytest

from pegboard.errors import ConfigError
from pegboard.runtime.board_file.load import parse_board
from pegboard.runtime.board_file.sources import check_sources

PATH = Path("/somewhere/board.yaml")


def test_the_entries_of_a_board_are_checked() -> None:
    loaded = parse_board("sources: [{kind: builtin}, {kind: functions, name: f}]", {}, path=PATH)

    assert [(state.name, state.kind) for state in check_sources(loaded)] == [
        ("builtin", "builtin"),
        ("f", "functions"),
    ]


def test_the_skills_of_a_board_are_a_source() -> None:
    [state] = check_sources(parse_board("skills: [house]", {}, path=PATH))

    assert (state.name, state.kind) == ("skills", "skills")


def test_no_other_source_has_the_name_of_the_skills() -> None:
    text = "sources: [{kind: builtin, name: skills}]\nskills: [house]"

    with pytest.raises(ConfigError, match=r"board.yaml:2: the name 'skills' is already used"):
        check_sources(parse_board(text, {}, path=PATH))


def test_a_source_that_is_not_enabled_is_left_out() -> None:
    loaded = parse_board("sources: [{kind: builtin, enabled: false}]", {}, path=PATH)

    assert check_sources(loaded) == []


@pytest.mark.parametrize(
    ("auth", "says"),
    [
        ("[{kind: bearer, tokn: x}]", "auth[0].token: missing; write it here"),
        ("[{kind: bearer, tokn: x}]", "auth[0].tokn: unknown key; did you mean 'token'?"),
        ("{kind: bearer, token: ''}", "auth.token: should not be empty, found ''"),
        ("{token: x}", "auth: 'kind' is missing; write it here"),
        (
            "{kind: bearr}",
            "auth: 'kind' is one of 'none', 'bearer', 'api_key', 'basic', 'caller', found 'bearr'",
        ),
        ("my-token", "auth: should be a list"),
    ],
)
def test_a_place_is_named_as_it_is_written(auth: str, says: str) -> None:
    source = f"{{kind: openapi, config: {{document: a.json, auth: {auth}}}}}"
    loaded = parse_board(f"sources:\n- {source}\n", {}, path=PATH)

    with pytest.raises(ConfigError) as raised:
        check_sources(loaded)

    assert f"board.yaml:2: sources[0].config.{says}" in str(raised.value).splitlines()


@pytest.mark.parametrize(
    ("source", "says"),
    [
        pytest.param("{kind: builtn}", "did you mean 'builtin'", id="kind"),
        pytest.param("{kind: builtin, name: a__b}", "is not a source name", id="name"),
        pytest.param(
            "{kind: functions, name: f, config: {modles: [x]}}",
            "board.yaml:2: sources[0].config.modles: unknown key; did you mean 'modules'?",
            id="config",
        ),
        pytest.param(
            "{kind: builtin, name: x}\n- {kind: builtin, name: x}", "is already used", id="twice"
        ),
    ],
)
def test_a_wrong_entry_is_told_with_its_line(source: str, says: str) -> None:
    loaded = parse_board(f"sources:\n- {source}\n", {}, path=PATH)

    with pytest.raises(ConfigError) as raised:
        check_sources(loaded)

    assert says in str(raised.value)
    assert "board.yaml:" in str(raised.value)


def test_an_empty_list_is_told_in_the_words_of_yaml() -> None:
    text = "sources:\n- {kind: langchain, config: {objects: []}}\n"

    with pytest.raises(ConfigError, match=r"sources\[0\].config.objects: should not be empty"):
        check_sources(parse_board(text, {}, path=PATH))
