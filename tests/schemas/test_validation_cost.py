"""Schemas whose validation would take more time and memory than there is."""

import resource
import subprocess
import sys
from typing import Any

import pytest

from pegboard.errors import SourceUnavailable, ToolArgumentError, ToolOutputError
from pegboard.schemas.validation_cost import (
    MAX_BRANCHES,
    SchemaCost,
    limit_branches,
    read_branch_limit,
)
from pegboard.schemas.validator import compile_schema
from pegboard.tools.results import finish_for_schema
from pegboard.tools.schema_arguments import SchemaArguments

GIGABYTE = 1 << 30


def a_chain(
    length: int, *, keyword: str = "anyOf", reference: str = "#/$defs/d{}"
) -> dict[str, Any]:
    """Definitions that each name the next one twice."""
    chain: dict[str, Any] = {
        f"d{number}": {
            "$anchor": f"a{number}",
            keyword: [{"$ref": reference.format(number + 1)}] * 2,
        }
        for number in range(length)
    }
    chain[f"d{length}"] = {"$anchor": f"a{length}", "type": "integer"}
    properties = {"x": {"$ref": reference.format(0)}}
    return {"type": "object", "properties": properties, "$defs": chain}


def a_tree(width: int) -> dict[str, Any]:
    """A recursive schema, each level of which is validated several times."""
    return {
        "type": "object",
        "properties": {"x": {"$ref": "#/$defs/node"}},
        "$defs": {
            "node": {
                "anyOf": [
                    {"type": "object", "properties": {"x": {"$ref": "#/$defs/node"}}}
                    | {"required": [f"r{number}"]}
                    for number in range(width)
                ]
            }
        },
    }


def nested(depth: int) -> dict[str, Any]:
    """An object within objects."""
    value: Any = 1
    for _ in range(depth):
        value = {"x": value}
    return value


@pytest.mark.parametrize("keyword", ["anyOf", "oneOf", "allOf"])
@pytest.mark.parametrize("reference", ["#/$defs/d{}", "#a{}", "#/%24defs/d{}"])
def test_a_schema_that_multiplies_its_alternatives_is_refused(keyword: str, reference: str) -> None:
    schema = a_chain(24, keyword=keyword, reference=reference)

    with pytest.raises(SourceUnavailable, match=r"'bomb' has a JSON Schema with .* alternatives"):
        compile_schema("bomb", schema)


def test_the_limit_is_the_largest_of_those_in_force() -> None:
    with limit_branches(20_000), limit_branches(100):
        assert read_branch_limit() == 20_000
        compile_schema("wide", a_chain(12))

    with (
        limit_branches(100),
        pytest.raises(
            SourceUnavailable, match=r"at most 100 are allowed \(PEGBOARD_MAX_SCHEMA_ALTERNATIVES\)"
        ),
    ):
        compile_schema("wide", a_chain(12))
    assert read_branch_limit() == MAX_BRANCHES


@pytest.mark.slow
def test_branches_of_one_value_are_counted_and_not_those_of_its_properties() -> None:
    wide = {"properties": {f"p{number}": {"anyOf": [{}, {}]} for number in range(20_000)}}

    assert SchemaCost(wide).count_branches() == 3
    assert SchemaCost(a_chain(12)).count_branches() == 4 * 2**12 - 2


def hidden_in_a_part() -> dict[str, Any]:
    inner = {"$id": "inner", "$ref": "#/$defs/d0", "$defs": a_chain(24)["$defs"]}
    return {"$id": "http://x/a", "$ref": "inner", "$defs": {"inner": inner}}


def hidden_behind_an_example() -> dict[str, Any]:
    chain = a_chain(24, reference="#a{}")
    return {**chain, "examples": [{"$anchor": f"a{number}"} for number in range(25)]}


def hidden_behind_an_address() -> dict[str, Any]:
    chain = a_chain(24, reference="http://x/d{}/")
    for number in range(25):
        chain["$defs"][f"d{number}"]["$id"] = f"http://x/d{number}/"
    return chain


@pytest.mark.parametrize(
    "schema",
    [hidden_in_a_part(), hidden_behind_an_example(), hidden_behind_an_address()],
    ids=["a part", "an example", "addresses"],
)
def test_no_name_hides_what_multiplies(schema: dict[str, Any]) -> None:
    with pytest.raises(SourceUnavailable, match=r"cannot be bounded|alternatives for one value"):
        compile_schema("bomb", schema)


def test_a_part_with_an_address_and_no_references_can_be_referred_to() -> None:
    street = {"$id": "street.json", "type": "string"}
    schema = {"properties": {"a": {"$ref": "#/$defs/street"}}, "$defs": {"street": street}}

    valid = compile_schema("fine", schema).is_valid

    assert valid({"a": "High Street"})
    assert not valid({"a": 1})


def test_a_part_with_an_address_and_references_is_refused_with_the_way_out() -> None:
    street = {"$id": "street.json", "$ref": "#/$defs/text", "$defs": {"text": {"type": "string"}}}
    schema = {"properties": {"a": {"$ref": "#/$defs/street"}}, "$defs": {"street": street}}

    with pytest.raises(
        SourceUnavailable, match=r"\$id: 'street.json'.*remove that \$id, and write"
    ):
        compile_schema("bundle", schema)


def test_anchors_and_the_dialect_itself_can_be_referred_to() -> None:
    schema = {
        "properties": {
            "a": {"$ref": "#name"},
            "b": {"$ref": "https://json-schema.org/draft/2020-12/schema"},
        },
        "$defs": {"x": {"$anchor": "name", "type": "integer"}},
    }
    valid = compile_schema("fine", schema).is_valid

    assert valid({"a": 1, "b": {"type": "string"}})
    assert not valid({"a": "1"})


def test_a_schema_within_itself_is_accepted() -> None:
    schema = {"anyOf": [{"$ref": "#"}, {"type": "object", "properties": {"x": {"$ref": "#"}}}]}

    assert compile_schema("recursive", schema).is_valid(nested(50))


def test_errors_that_would_not_fit_into_memory_are_summed_up() -> None:
    schema = a_chain(11)
    validator = compile_schema("wide", schema)

    assert SchemaCost(schema).count_branches() < MAX_BRANCHES
    assert validator.list_errors({"x": "a" * 100_000}) is None
    with pytest.raises(ToolArgumentError, match="too many alternatives to list"):
        SchemaArguments("wide", schema)({"x": "a" * 100_000})
    with pytest.raises(ToolOutputError):
        finish_for_schema(schema, "wide")({"x": "a" * 100_000})


ANY_JSON = {
    "anyOf": [
        {"type": ["null", "boolean", "number", "string"]},
        {"type": "array", "items": {"$ref": "#"}},
        {"type": "object", "additionalProperties": {"$ref": "#"}},
    ]
}
BY_PATTERN = {
    "type": "object",
    "patternProperties": {
        f"^{letter}": {"anyOf": [{"type": "integer"}, {"$ref": "#"}]} for letter in "abcdefghx"
    },
    "additionalProperties": {"$ref": "#"},
}


@pytest.mark.parametrize("schema", [ANY_JSON, BY_PATTERN], ids=["any JSON", "patterns"])
def test_only_what_applies_to_a_property_is_counted(schema: dict[str, Any]) -> None:
    validator = compile_schema("deep", schema)

    assert validator.is_valid(nested(60))
    assert validator.list_errors(nested(60)) == []


def test_several_patterns_that_match_one_name_are_all_counted() -> None:
    patterns = {"x": {"$ref": "#"}, "^x": {"$ref": "#"}, "^(?=x)": {"$ref": "#"}}
    schema = {"type": ["object", "integer"], "patternProperties": patterns}

    assert not compile_schema("deep", schema).is_valid(nested(60))


def test_a_deep_document_of_a_recursive_schema_is_refused_in_time() -> None:
    arguments = SchemaArguments("tree", a_tree(8))

    with pytest.raises(ToolArgumentError, match="too many alternatives"):
        arguments(nested(60))


@pytest.mark.slow
def test_many_faults_of_a_plain_array_are_still_explained_and_coerced() -> None:
    numbers = {"type": "array", "items": {"type": "integer"}}
    schema = {"type": "object", "properties": {"x": numbers}}
    arguments = SchemaArguments("sum", schema)

    assert arguments({"x": [str(number) for number in range(20_000)]}) == {"x": [*range(20_000)]}
    with pytest.raises(ToolArgumentError, match=r"x\[0\]: expected an integer"):
        arguments({"x": ["a"] * 20_000})


ATTACK = """
from tests.schemas.test_validation_cost import a_chain, a_tree, nested
from pegboard.errors import PegboardError
from pegboard.tools.schema_arguments import SchemaArguments
for schema, document in [
    (a_chain(24), {"x": "a"}),
    (a_chain(11), {"x": "a" * 1_000_000}),
    (a_tree(2), nested(90)),
    (a_tree(8), nested(90)),
    ({"properties": {"x": {"items": {"anyOf": [{"minimum": n} for n in range(400)]}}}},
     {"x": [-1] * 100_000}),
]:
    try:
        SchemaArguments("attack", schema)(document)
    except PegboardError as error:
        print(error.code)
"""


@pytest.mark.slow
def test_attacks_by_schemas_stay_within_bounds_of_time_and_memory() -> None:
    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_AS, (GIGABYTE, GIGABYTE))
        resource.setrlimit(resource.RLIMIT_CPU, (8, 8))

    done = subprocess.run(
        [sys.executable, "-c", ATTACK], capture_output=True, text=True, preexec_fn=limit, check=True
    )

    assert len(done.stdout.splitlines()) == 5, done.stderr
