import pytest

from pegboard.core.tool import Effect
from pegboard.errors import SourceUnavailable
from pegboard.sources.script.comment_blocks import find_block
from pegboard.sources.script.description import (
    fill_template,
    parse_document,
    placeholders,
    read_description,
)
from pegboard.tools.yaml_positions import YamlDocument

GOOD = """
description: Count words.
effect: read
input_schema:
  type: object
  properties: {text: {type: string}}
"""


def described(text: str):
    return read_description(parse_document(text.lstrip("\n"), "count.tool.yaml"))


def test_a_description_is_read_with_its_defaults() -> None:
    description = described(GOOD)

    assert description.description == "Count words."
    assert description.effect is Effect.READ
    assert (description.input, description.output, description.category) == (
        "json",
        "json",
        "script",
    )


def test_a_shorthand_is_a_schema() -> None:
    description = described(
        "description: x\ninput_schema: {text: string, limits: [integer]}\noutput_schema: {n: int}"
    )

    assert description.input_schema == {
        "type": "object",
        "properties": {
            "text": {"type": "string"},
            "limits": {"type": "array", "items": {"type": "integer"}},
        },
        "required": ["text", "limits"],
    }
    assert description.output_schema == {
        "type": "object",
        "properties": {"n": {"type": "integer"}},
        "required": ["n"],
    }


def test_a_shorthand_with_an_unknown_type_is_refused_with_its_line() -> None:
    with pytest.raises(SourceUnavailable, match=r"yaml:2: input_schema: .*'sting' is not a type"):
        described("description: x\ninput_schema: {text: sting}")


def test_what_a_script_does_to_the_world_is_writing_unless_it_says() -> None:
    assert described("description: x").effect is Effect.WRITE


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        pytest.param("", "count.tool.yaml:1: a description is a mapping", id="nothing"),
        pytest.param("- a", "count.tool.yaml:1: a description is a mapping", id="a list"),
        pytest.param("title: x", "count.tool.yaml:1: 'description' is missing", id="no text"),
        pytest.param(
            "description: x\n\nefect: read",
            "count.tool.yaml:3: unknown key 'efect'; did you mean 'effect'?",
            id="a misspelt key",
        ),
        pytest.param(
            "description: x\nqqqqqq: 1", "count.tool.yaml:2: unknown key 'qqqqqq'", id="a key"
        ),
        pytest.param(
            "description: x\neffect: eat",
            "count.tool.yaml:2: effect: should be 'read', 'write' or 'admin'",
            id="an effect that there is not",
        ),
        pytest.param(
            "description: x\nexit_codes:\n  2: sad",
            "count.tool.yaml:3: exit_codes.2: should be 'ok'",
            id="an outcome that there is not",
        ),
        pytest.param(
            "description: x\nscopes: a",
            "count.tool.yaml:2: scopes: should be a list",
            id="one scope",
        ),
        pytest.param(
            "description: x\ninput_schema: [1]",
            "count.tool.yaml:2: input_schema: should be a mapping",
            id="a schema that is a list",
        ),
        pytest.param("description: x\n: [", "count.tool.yaml:2: not valid YAML", id="no YAML"),
        pytest.param("description: x\ncpu: 0x", "count.tool.yaml:2: unknown key", id="odd value"),
        pytest.param(
            "description: x\ndescription: y",
            "count.tool.yaml:2: the key 'description' stands here twice",
            id="a key twice",
        ),
        pytest.param("? [a]\n: 1", "count.tool.yaml:1: a key must be plain text", id="odd key"),
        pytest.param(
            "description: x\ninput_schema:\n  type: array",
            "count.tool.yaml:2: input_schema: arguments are an object",
            id="arguments that are a list",
        ),
        pytest.param(
            "description: x\noutput_schema:\n  type: objekt",
            "count.tool.yaml:2: 'output_schema' has a broken JSON Schema",
            id="a broken schema",
        ),
        pytest.param(
            "description: x\ninput: template",
            "count.tool.yaml:1: input: template needs 'arguments'",
            id="a template without a command line",
        ),
        pytest.param(
            "description: x\narguments: [a]",
            "count.tool.yaml:1: 'arguments' are for 'input: template'",
            id="a command line without a template",
        ),
        pytest.param(
            "description: x\ninput: flags\ninput_schema: {additionalProperties: true}",
            "take 'additionalProperties' away",
            id="flags without names",
        ),
        pytest.param(
            "description: x\ninput: flags\ninput_schema: {anyOf: [{}]}",
            "take 'anyOf' away",
            id="flags of a union",
        ),
        pytest.param(
            "description: x\ninput: flags\ninput_schema: {properties: {'a b': {}}}",
            "'a b' cannot be a flag",
            id="a name that cannot be a flag",
        ),
        pytest.param(
            "description: x\ninput: template\narguments: ['{b}']",
            "'{b}' is not a property of the input_schema",
            id="a placeholder without an argument",
        ),
        pytest.param(
            "description: x\ninput: template\narguments: [a]\ninput_schema: {properties: {b: {}}}",
            "the property 'b' is not used in 'arguments'",
            id="an argument without a placeholder",
        ),
    ],
)
def test_a_faulty_description_names_the_line_and_the_fault(text: str, reason: str) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        described(text)

    assert reason in str(caught.value)


def test_a_description_that_unfolds_without_end_is_refused() -> None:
    bomb = "a: &a [1,1,1,1,1,1,1,1,1,1]\n"
    for name, before in zip("bcdef", "abcde", strict=True):
        bomb += f"{name}: &{name} [{', '.join([f'*{before}'] * 10)}]\n"

    with pytest.raises(SourceUnavailable, match="too large or too deep"):
        described(bomb)


def test_a_place_without_a_line_is_called_by_its_file() -> None:
    assert YamlDocument(value=1, file="f.yaml").at(("a",)) == "f.yaml"


@pytest.mark.parametrize("prefix", ["#", "//", "--", ";"])
def test_a_block_is_found_in_comments_of_many_languages(prefix: str) -> None:
    source = f"first\n{prefix} /// tool\n{prefix} a: 1\n{prefix}\n{prefix}   b\n{prefix} ///\nlast"

    block = find_block(source, "tool", file="x")

    assert block is not None
    assert (block.text, block.line) == ("a: 1\n\n  b", 3)


def test_a_block_of_another_kind_is_passed_over() -> None:
    assert find_block("# /// script\n# a = 1\n# ///\n", "tool", file="x") is None


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        pytest.param("# /// tool\n# a: 1\nb", "x.py:1: the '/// tool' block does not end", id="b"),
        pytest.param("# /// tool\n# a: 1", "x.py:1: the '/// tool' block does not end", id="end"),
        pytest.param(
            "# /// tool\n# ///\n# /// tool\n# ///", "x.py:3: there is another", id="two blocks"
        ),
    ],
)
def test_a_block_that_is_malformed_names_its_line(source: str, reason: str) -> None:
    with pytest.raises(SourceUnavailable) as caught:
        find_block(source, "tool", file="x.py")

    assert str(caught.value).startswith(reason)


def test_braces_in_a_template_can_be_escaped() -> None:
    assert placeholders("{{a}} {b}") == ["b"]
    assert fill_template("{{a}} {b}", {"b": "{a}"}) == "{a} {a}"
