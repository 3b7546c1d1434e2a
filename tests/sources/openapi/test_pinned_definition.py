"""What a document says by itself, apart from what the operator says of it."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.sources.openapi.bench import document, one, operation

from pegboard.core.ports.services import Services
from pegboard.core.tool import Effect, ToolSpec
from pegboard.network import GuardedClient
from pegboard.schemas.tool_definition import definition_of
from pegboard.sources.openapi import KIND
from pegboard.sources.openapi.config import OpenApiConfig

QUERY = [{"name": "q", "in": "query", "schema": {"type": "string"}}]
SHOP = one(parameters=QUERY) | {"servers": [{"url": "https://shop.example/{v}"}]}


async def listed(folder: Path, described: Any, **config: Any) -> dict[str, tuple[ToolSpec, Any]]:
    """What the board and the document say of each tool, by its name on the board."""
    (folder / "api.json").write_text(json.dumps(described))
    given = OpenApiConfig.model_validate(
        {"document": "api.json", "base_url": "http://127.0.0.1:9", **config}
    )
    http = GuardedClient()
    source = await KIND.open("shop", given, Services(http=http, base_dir=folder))
    try:
        tools = await source.tools()
    finally:
        await http.close()
    return {tool.spec.name: (tool.spec, getattr(tool, "upstream", None)) for tool in tools}


async def test_the_operators_word_changes_nothing_of_what_the_document_says(
    tmp_path: Path,
) -> None:
    said: dict[str, Any] = {
        "name": "look",
        "title": "Look",
        "description": "Look.",
        "effect": "admin",
        "idempotent": False,
        "tags": ["mine"],
        "category": "mine",
        "timeout": 3,
        "hidden": {"q": "a"},
        "projection": "a",
    }
    [(_, plain)] = (await listed(tmp_path, SHOP)).values()
    changed = await listed(
        tmp_path,
        SHOP,
        overrides={"op": said},
        headers={"X-Key": "k"},
        base_url="http://127.0.0.1:8",
        retries=0,
        promise_outputs=True,
        auth={"kind": "bearer", "token": "t", "scheme": "*"},
    )

    spec, same = changed["shop__look"]
    assert (spec.description, spec.effect) == ("Look.", Effect.ADMIN)
    assert definition_of(same) == definition_of(plain)
    assert (same.action, same.name, same.effect) == ("op", "shop__op", Effect.READ)


@pytest.mark.parametrize(
    ("described", "route"),
    [
        (one() | {"servers": [{"url": "https://a.example"}]}, " of https://a.example"),
        (
            one() | {"servers": [{"url": "https://{v}", "variables": {"v": {"default": "b"}}}]},
            " of https://{v} v=b",
        ),
        (one(servers=[{"url": "https://own.example", "description": "Ours."}]), " of https://own"),
        (one() | {"servers": "nowhere"}, ""),
        (
            {
                "swagger": "2.0",
                "info": {"title": "t", "version": "1"},
                "host": "old.example",
                "paths": {"/things": {"get": operation()}},
            },
            " of https://old.example/",
        ),
    ],
    ids=["server", "variables", "its own", "none", "swagger"],
)
async def test_where_requests_go_is_part_of_a_definition(
    tmp_path: Path, described: Any, route: str
) -> None:
    [(spec, said)] = (await listed(tmp_path, described)).values()

    assert said.handler.startswith(f"openapi GET /things{route}")
    assert spec.handler == "openapi"


async def test_what_the_operator_has_written_has_no_upstream(tmp_path: Path) -> None:
    action = {"name": "ping", "method": "get", "path": "/ping"}
    both = await listed(tmp_path, SHOP, actions=[action])
    inline = await listed(tmp_path, {}, document=SHOP)
    pasted = await listed(tmp_path, {}, document=json.dumps(SHOP))

    assert [name for name, (_, said) in both.items() if said is None] == ["shop__ping"]
    assert [said for _, said in (*inline.values(), *pasted.values())] == [None, None]


async def test_an_operation_without_an_id_is_known_by_its_place(tmp_path: Path) -> None:
    nameless = document({"/a": {"get": {"responses": {}}}})

    [(_, said)] = (await listed(tmp_path, nameless)).values()

    assert said.action == "GET /a"
