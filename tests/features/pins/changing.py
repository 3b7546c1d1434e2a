"""A board on a document that changes."""

import json
from pathlib import Path
from typing import Any

BOARD = """
sources:
  - {kind: openapi, name: orders, config: {document: orders.json, base_url: "http://127.0.0.1:9"}}
pinning: {default: ask}
"""


def write(folder: Path, *operations: str, summary: str = "Look.", **rest: Any) -> None:
    """Write a document with these operations."""
    paths = {
        f"/{name}": {"get": {"operationId": name, "summary": summary, "responses": {}, **rest}}
        for name in operations
    }
    made = {"openapi": "3.1.0", "info": {"title": "t", "version": "1"}, "paths": paths}
    (folder / "orders.json").write_text(json.dumps(made))
