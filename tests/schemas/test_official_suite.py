"""The official test suite of JSON Schema, with all drafts that tools use.

It is in the source distribution of `jsonschema`, which `make peers` unpacks. Formats are
annotations here, so that the optional tests of formats are left out.
"""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from tests.peers.node import PEERS

from pegboard.errors import SourceUnavailable
from pegboard.schemas.validator import compile_schema

DRAFTS = {
    "draft4": "http://json-schema.org/draft-04/schema#",
    "draft6": "http://json-schema.org/draft-06/schema#",
    "draft7": "http://json-schema.org/draft-07/schema#",
    "draft2019-09": "https://json-schema.org/draft/2019-09/schema",
    "draft2020-12": "https://json-schema.org/draft/2020-12/schema",
}
REFUSED = re.compile(
    r"Resource 'http://localhost:1234/"  # references to other documents are never fetched
    r"|Unknown meta-schema: 'http://localhost:1234/"
    r"|validation cannot be bounded: it gives a part with references an identity of its own"
    r"|validation cannot be bounded: it refers to '"
    r"|validation cannot be bounded: it has the anchor '\w+' twice"
)


def folder() -> Path:
    found = PEERS / "json-schema-suite" / "json" / "tests"
    if not found.is_dir():
        raise RuntimeError("tests/peers/json-schema-suite is missing: run `make peers`")
    return found


def cases(draft: str) -> list[tuple[str, dict[str, Any]]]:
    files = [*(folder() / draft).glob("*.json"), *(folder() / draft / "optional").glob("*.json")]
    return [(file.stem, case) for file in sorted(files) for case in json.loads(file.read_bytes())]


def schema_of(case: dict[str, Any], draft: str) -> dict[str, Any]:
    schema = case["schema"]
    if isinstance(schema, bool):
        schema = {} if schema else {"not": {}}
    return {"$schema": DRAFTS[draft], **schema}


@pytest.mark.parametrize(
    ("draft", "least"),
    [
        ("draft4", 600),
        ("draft6", 800),
        ("draft7", 900),
        ("draft2019-09", 1_200),
        ("draft2020-12", 1_200),
    ],
)
def test_every_instance_is_accepted_or_refused_as_the_suite_says(draft: str, least: int) -> None:
    wrong: list[tuple[str, ...]] = []
    refused: list[str] = []
    judged = 0
    for file, case in cases(draft):
        try:
            validator = compile_schema("x", schema_of(case, draft))
        except SourceUnavailable as error:
            refused.append(str(error))
            continue
        for test in case["tests"]:
            judged += 1
            if validator.is_valid(test["data"]) != test["valid"]:
                wrong.append((file, case["description"], test["description"]))

    assert wrong == []
    assert [reason for reason in refused if not REFUSED.search(reason)] == []
    assert judged >= least
    assert len(refused) <= 60
