"""A source goes into a board file, and nothing else moves."""

from pathlib import Path

import pytest

from pegboard.cli.board_file_editor import (
    check_board_text,
    choose_source_name,
    diff_texts,
    insert_source,
    relocate_faults,
    write_board,
)
from pegboard.errors import ConfigError

ENTRY = {"kind": "builtin", "name": "new", "config": {}}
BLOCK = "- kind: builtin\n{0}  name: new\n{0}  config: {{}}\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("", "sources:\n  " + BLOCK.format("  ")),
        ("# mine\n", "# mine\n\nsources:\n  " + BLOCK.format("  ")),
        ("policy: {}", "policy: {}\n\nsources:\n  " + BLOCK.format("  ")),
        (
            "sources:  # none yet\npolicy: {}\n",
            "sources:  # none yet\n  " + BLOCK.format("  ") + "policy: {}\n",
        ),
        ("sources:\n- kind: sql\n", "sources:\n- kind: sql\n" + BLOCK.format("")),
        (
            "sources:\n    -   kind: sql   # why\n        # inside\n\n# after\npolicy: {}\n",
            "sources:\n    -   kind: sql   # why\n    "
            + BLOCK.format("    ")
            + "        # inside\n\n# after\npolicy: {}\n",
        ),
        (
            "sources:\n  -\n    kind: sql\n    config: {\n      a: 1\n    }\n",
            "sources:\n  -\n    kind: sql\n    config: {\n      a: 1\n    }\n  "
            + BLOCK.format("  "),
        ),
        (
            "sources:\n  - kind: sql\n    name: |\n      a\n\n\npolicy: {}",
            None,
        ),
        ("sources: []\n", "sources: [{kind: builtin, name: new, config: {}}]\n"),
        (
            "sources: [{kind: sql}]  # why\n",
            "sources: [{kind: sql}, {kind: builtin, name: new, config: {}}]  # why\n",
        ),
        (
            "sources: [\n  {kind: sql},  # one, two\n]\n",
            "sources: [\n  {kind: sql},  # one, two\n  {kind: builtin, name: new, config: {}}\n]\n",
        ),
        (
            "sources: [\n  {kind: sql}  # one, two\n]\n",
            None,
        ),
    ],
)
def test_a_source_goes_in_where_it_belongs(before: str, after: str | None) -> None:
    found = insert_source(before, ENTRY)

    assert after is None or found == after
    kept = [line for line in before.splitlines() if line.strip().startswith("#")]
    assert all(line in found for line in kept)


def test_the_ends_of_lines_stay_what_they_are() -> None:
    assert insert_source("sources:\r\n- kind: sql\r\n", ENTRY) == (
        "sources:\r\n- kind: sql\r\n- kind: builtin\r\n  name: new\r\n  config: {}\r\n"
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("- kind: sql\n", "a board is a mapping"),
        ("sources: [\n", "not valid YAML"),
        ("base: &a [{kind: sql}]\nsources: *a\n", "add it by hand"),
    ],
    ids=["a list", "broken", "an alias"],
)
def test_what_cannot_be_added_to_is_left_alone(text: str, said: str) -> None:
    with pytest.raises(ConfigError, match=said):
        insert_source(text, ENTRY)


def test_what_goes_in_is_checked_by_its_kind(tmp_path: Path) -> None:
    text = insert_source("", {"kind": "sql", "name": "db", "config": {"ulr": "sqlite:///a"}})

    with pytest.raises(ConfigError, match="did you mean 'url'"):
        check_board_text(text, tmp_path / "board.yaml")


@pytest.mark.parametrize(
    ("wanted", "name"),
    [
        ("My Orders API!", "my-orders-api"),
        ("std", "std-2"),
        ("", "builtin"),
        ("x" * 50, "x" * 20),
        ("шоп", "builtin"),
    ],
)
def test_a_name_is_legal_and_nobody_elses(tmp_path: Path, wanted: str, name: str) -> None:
    loaded = check_board_text("sources: [{kind: builtin, name: std}]", tmp_path / "board.yaml")

    assert choose_source_name(wanted, "builtin", loaded) == name
    assert choose_source_name("std", "builtin", None) == "std"


def test_a_change_is_shown_as_a_diff_and_written(tmp_path: Path) -> None:
    path = tmp_path / "board.yaml"

    path.write_text("a\nb\n")

    write_board(path, "a\nc\n", before="a\nb\n")

    assert path.read_text() == "a\nc\n"
    assert diff_texts("a\nb\n", "a\nc\n", path).splitlines()[-2:] == ["-b", "+c"]


@pytest.mark.parametrize(
    ("before", "config", "told"),
    [
        ("", {"a": "${UNSET}"}, "the new source: config.a: the variable UNSET is not set"),
        ("# mine", {"a": 1}, "the new source: config.a: unknown key"),
        (
            "sources:\n  - {kind: builtin, name: std}\npolicy: {}\n",
            {"a": "${UNSET}"},
            "the new source: config.a: the variable UNSET is not set",
        ),
        ("sources: []\n", {"a": "${UNSET}"}, "board.yaml:1: sources[0].config.a: the variable"),
        (
            "sources:\n  - {kind: builtin, name: new}\n",
            {},
            "the new source: the name 'new' is already used",
        ),
        (
            "sources:\n  - {kind: sql, name: b}\n",
            {},
            "board.yaml:2: sources[0].url: missing",
        ),
        (
            "sources:\n  - {kind: builtin, name: std}\npinning:\n  sources: {gone: ask}\n",
            {},
            "board.yaml:4: the board has no source 'gone'",
        ),
    ],
    ids=["variable", "key", "within", "one line", "name", "another above", "another below"],
)
def test_what_is_wrong_is_told_with_lines_that_the_file_has(
    tmp_path: Path, before: str, config: dict[str, object], told: str
) -> None:
    after = insert_source(before, {**ENTRY, "config": config})

    with pytest.raises(ConfigError) as caught:
        check_board_text(after, tmp_path / "board.yaml")

    assert told in relocate_faults(caught.value, before, after, "board.yaml").message
