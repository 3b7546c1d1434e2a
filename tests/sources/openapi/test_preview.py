"""`preview`: what is told without opening is what opening finds."""

from typing import Any

import pytest

from pegboard.core.ports.services import Services
from pegboard.core.tool import ToolSpec
from pegboard.errors import SourceUnavailable
from pegboard.network import GuardedClient
from pegboard.sources.openapi import KIND
from pegboard.sources.openapi.config import OpenApiConfig
from pegboard.sources.openapi.preview import preview

ACTION = {"name": "look", "path": "/things/{id}"}
BODY = {"type": "object", "properties": {"a": {"type": "string"}}}


def config(*actions: dict[str, Any], **said: Any) -> OpenApiConfig:
    given = {"base_url": "https://a.test", "actions": actions or (ACTION,), **said}
    return OpenApiConfig.model_validate(given)


async def found(wanted: OpenApiConfig) -> tuple[ToolSpec | None, ToolSpec]:
    """What is told before, and what there is then."""
    services = Services(http=GuardedClient())
    source = await KIND.open("static", wanted, services)
    [tool] = await source.tools()
    return preview("static", wanted, services), tool.spec


def shown(spec: ToolSpec | None) -> dict[str, Any] | None:
    """All that a spec says, its schemas made."""
    return spec and {**spec.to_dict(), "unavailable": spec.unavailable, "timeout": spec.timeout}


@pytest.mark.parametrize(
    "wanted",
    [
        config(),
        *(config({**ACTION, "method": method}) for method in ("get", "put", "post", "delete")),
        config({**ACTION, "path": "/a/../b"}),
        config({**ACTION, "path": "/a/%2e%2e/b"}),
        config({**ACTION, "method": "POST", "body": BODY}, timeout=7),
        config({**ACTION, "parameters": [{"name": "id", "schema": {"type": "integer"}}]}),
        config({**ACTION, "name": "a" * 64}),
    ],
)
async def test_what_is_told_before_is_what_there_is(wanted: OpenApiConfig) -> None:
    told, there = await found(wanted)

    assert shown(told) == shown(there)


@pytest.mark.parametrize(
    "wanted",
    [
        config({**ACTION, "title": "Look"}),
        config({**ACTION, "tags": ["a"]}),
        config({**ACTION, "description": "Looks."}),
        config({**ACTION, "name": "look at"}),
        config({**ACTION, "path": "/" + "a" * 2_000}),
        config(headers={"X-A": "b"}),
        config(retries=0),
        config(auth={"kind": "bearer", "token": "secret"}),
    ],
    ids=["title", "tags", "description", "name", "path", "headers", "retries", "auth"],
)
def test_what_takes_more_than_a_look_is_not_told_before(wanted: OpenApiConfig) -> None:
    assert preview("static", wanted, Services(http=GuardedClient())) is None


def test_several_actions_are_not_one_tool() -> None:
    wanted = config(ACTION, {**ACTION, "name": "other"})

    assert preview("static", wanted, Services(http=GuardedClient())) is None


def test_a_board_without_network_says_so_before() -> None:
    with pytest.raises(SourceUnavailable, match="need the network"):
        preview("static", config(), Services())
