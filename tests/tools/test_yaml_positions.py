import pytest
import yaml

from pegboard.errors import ConfigError
from pegboard.tools.yaml_positions import YamlDocument, core_loader, dump_yaml, read_yaml


def test_every_place_has_its_line() -> None:
    located = read_yaml("a:\n  - x: 1\n    y: [2, 3]\nb: {c: 4}\n", "board.yaml")

    assert located.value == {"a": [{"x": 1, "y": [2, 3]}], "b": {"c": 4}}
    assert located.line(("a", 0, "y")) == 3
    assert located.line(("b", "c")) == 4


def test_an_unknown_place_has_the_line_of_what_is_around_it() -> None:
    located = read_yaml("a:\n  b:\n    c: 1\n", "board.yaml")

    assert located.line(("a", "b", "nothing", 3)) == 2


def test_an_empty_file_has_no_value() -> None:
    assert read_yaml("# only a comment\n", "board.yaml").value is None


def test_types_are_those_of_yaml() -> None:
    located = read_yaml("a: 1\nb: 1.5\nc: true\nd: null\ne: '1'\nf: text\n", "board.yaml")

    assert located.value == {"a": 1, "b": 1.5, "c": True, "d": None, "e": "1", "f": "text"}


@pytest.mark.parametrize(
    ("text", "says"),
    [
        pytest.param("a: [1, 2", "board.yaml:1: not valid YAML", id="not closed"),
        pytest.param("a: 1\na: 2\n", "board.yaml:2: the key 'a' stands here twice", id="twice"),
        pytest.param("? [a]\n: 1\n", "board.yaml:1: a key must be plain text", id="odd key"),
        pytest.param("a: !!python/object:os.system x\n", "not valid YAML", id="python object"),
        pytest.param("a: \t- x\n", "board.yaml:1: not valid YAML", id="tab"),
        pytest.param(
            "a:\n\t- x\n",
            "board.yaml:2: not valid YAML: the line is indented with a tab; use spaces",
            id="indented with a tab",
        ),
        pytest.param("a: 1\nb: '\x01'\n", "board.yaml:2: not valid YAML", id="control character"),
        pytest.param("a: 1\n<<: {b: 1}\n", "board.yaml:2: '<<' is not read", id="merge key"),
    ],
)
def test_a_mistake_is_told_with_its_line(text: str, says: str) -> None:
    with pytest.raises(ConfigError, match=says):
        read_yaml(text, "board.yaml")


def test_a_bomb_of_aliases_is_refused() -> None:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]" for i in range(1, 9)]

    with pytest.raises(ConfigError, match="too large or too deep"):
        read_yaml("\n".join(lines), "board.yaml")


def test_a_cycle_of_aliases_is_refused() -> None:
    with pytest.raises(ConfigError, match="too large or too deep"):
        read_yaml("a: &a [*a]\n", "board.yaml")


@pytest.mark.parametrize("text", ["[", "a: [", "- ", "{a: "])
def test_a_deep_file_is_refused_and_does_not_end_the_process(text: str) -> None:
    with pytest.raises(ConfigError, match=r"board.yaml:1: the document is too large or too deep"):
        read_yaml(text * 200_000, "board.yaml")


def test_a_text_within_a_file_has_the_lines_of_the_file() -> None:
    located = read_yaml("a: 1\nb: 2\n", "count.py", first_line=7)

    assert (located.at(("b",)), located.at(("c",)), located.at(())) == (
        "count.py:8",
        "count.py:7",
        "count.py:7",
    )
    with pytest.raises(ConfigError, match=r"^count.py:8: the key 'a' stands here twice"):
        read_yaml("a: 1\na: 2\n", "count.py", first_line=7)


def test_keys_are_text_and_data_of_no_file_has_no_lines() -> None:
    assert read_yaml("{2: ok, true: x}", "a.yaml").value == {"2": "ok", "true": "x"}
    assert YamlDocument(value={}, file="descriptions of a").at(("b",)) == "descriptions of a"


@pytest.mark.parametrize(
    "value", ["!!int ''", "!!float ''", "!!bool x", "1e999", "0x" + "f" * 5000]
)
def test_a_value_that_does_not_fit_its_tag_is_reported_with_its_line(value: str) -> None:
    with pytest.raises(ConfigError, match=r"^board.yaml:2: .* is not a valid"):
        read_yaml(f"a: 1\nb: {value}\n", "board.yaml")


@pytest.mark.parametrize(
    "text",
    ["59:59:59", "1:60", "2001-01-01", "2001-99-99", "yes", "off", "0b1", "017", "1_000", ".inf"],
)
def test_what_only_yaml_1_1_reads_as_something_else_is_text(text: str) -> None:
    assert read_yaml(f"a: {text}\n", "board.yaml").value == {"a": text}


@pytest.mark.parametrize(
    "value",
    [
        "!!timestamp 2001-01-01",
        "!!binary aGk=",
        "!!set {a, b}",
        "!!omap [a: 1]",
        "!mine x",
        "!!map [1]",
    ],
)
def test_other_types_are_refused_with_their_line(value: str) -> None:
    with pytest.raises(ConfigError, match=r"^board.yaml:2: .*the type '.*' is not read"):
        read_yaml(f"a: 1\nb: {value}\n", "board.yaml")


@pytest.mark.parametrize(
    "value",
    ["1e3", "yes", "2001-01-01", "59:59:59", "0x1f", "~", "<<", "1_000", 1, 1.5, None, True],
)
def test_what_is_written_is_read_the_same_by_both_schemas(value: object) -> None:
    text = dump_yaml({"a": value})

    assert yaml.load(text, Loader=core_loader()) == {"a": value}  # made of the safe one
    assert yaml.safe_load(text) == {"a": value}
