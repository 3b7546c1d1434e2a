"""What pages say of the code in tables is what the code says."""

import re

import pytest
from tests.docs.pages import DOCS

from pegboard.access.policy import DEFAULT_EFFECTS
from pegboard.core.tool import ToolSpec
from pegboard.execution.order import ORDER
from pegboard.features.identity.tickets import LIFETIME, MAX_TICKETS
from pegboard.runtime import Pegboard
from pegboard.servers.http import create_app
from pegboard.servers.http.openapi import document
from pegboard.servers.http.uvicorn_server import PING
from pegboard.servers.http.websocket.connection import SLOW_READER, ConnectionLimits
from pegboard.servers.http.websocket.endpoint import MAX_CONNECTIONS
from pegboard.servers.http.websocket.messages import READER, TYPES

_ROW = re.compile(r"^\| `(.+?)` \| (.+) \|$", re.MULTILINE)


def test_the_page_of_a_call_names_every_step_in_order() -> None:
    named = [step for step, _ in _rows("explanation/a-call.md")]

    assert named == [step.__name__ for step in ORDER]


def test_the_table_of_defaults_is_what_the_policy_falls_back_to() -> None:
    defaults = _text(_POLICY).partition("## The defaults")[2]
    told = {first: rest.rpartition("| ")[2] for first, rest in _ROW.findall(defaults)}

    assert told == {effect.value: verdict.value for effect, verdict in DEFAULT_EFFECTS.items()}


def test_a_tool_that_does_not_say_its_effect_counts_as_the_page_says() -> None:
    (told,) = re.findall(r"does not say its effect counts as `(\w+)`", _text(_POLICY))

    assert ToolSpec(name="plain", input_schema={"type": "object"}).effect.value == told


@pytest.mark.slow
def test_the_page_of_the_server_names_every_path() -> None:
    page = _text("how-to/run-the-server.md")
    paths = document(create_app(Pegboard()), needs_token=False)["paths"]

    assert "/execute" in paths
    assert [path for path in paths if f" {path.replace('{tool}', '{name}')}`" not in page] == []


def test_the_page_of_the_websocket_names_every_message_with_its_fields() -> None:
    schema = READER.json_schema()
    wanted = {
        kind: schema["$defs"][reference.rpartition("/")[2]]["properties"].keys() - {"id", "type"}
        for kind, reference in schema["discriminator"]["mapping"].items()
    }
    page = _text(_SOCKET)
    requests = page[page.index("## Requests") : page.index("## Answers")]
    told = {kind: set(_FIELD.findall(rest)) for kind, rest in _FIELDS.findall(requests)}

    assert told == wanted
    assert list(told) == list(TYPES)


def test_the_page_of_the_websocket_tells_its_bounds() -> None:
    told = dict(re.findall(r"^\| (.+?) \| (\d+)", _text(_SOCKET), re.MULTILINE))

    assert told == {
        "requests under way on a connection": str(ConnectionLimits().in_flight),
        "reading what was sent": f"{ConnectionLimits().send_timeout:g}",
        "a sign of life, which libraries give by themselves": f"{PING:g}",
        "connections": str(MAX_CONNECTIONS),
        "unused tickets of a caller": str(MAX_TICKETS),
    }
    assert f"good for {LIFETIME:g} seconds" in _text(_SOCKET)
    assert f"ends with {SLOW_READER}" in _text(_SOCKET)


_SOCKET = "how-to/use-the-websocket.md"
_FIELDS = re.compile(r"^\| `(.+?)` \| (.*?) ?\| .+ \|$", re.MULTILINE)
_FIELD = re.compile(r"`(\w+)`(?! /)")
_POLICY = "how-to/say-who-may-call-what.md"


def _rows(page: str) -> list[tuple[str, str]]:
    return _ROW.findall(_text(page))


def _text(page: str) -> str:
    return (DOCS / page).read_text(encoding="utf-8")
