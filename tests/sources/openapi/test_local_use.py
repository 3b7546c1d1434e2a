"""A REST API uses a file of the server where its document is one."""

from typing import Any

import pytest

from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.local_use import find_local_use

PASTED = "openapi: 3.1.0\ninfo: {title: x, version: '1'}\npaths: {}\n"


@pytest.mark.parametrize(
    ("document", "is_local"),
    [
        ("https://a.example/openapi.json", False),
        (PASTED, False),
        ({"openapi": "3.1.0"}, False),
        ("openapi.json", True),
        ("/etc/passwd", True),
        ("file:///etc/passwd", True),
    ],
)
def test_a_document_by_its_path_is_a_file_of_the_server(document: Any, is_local: bool) -> None:
    config = OpenApiConfig.model_validate({"document": document})
    assert bool(find_local_use(config)) is is_local
