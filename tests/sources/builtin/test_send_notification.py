"""`send_notification`: what arrives at a webhook, at Slack and at ntfy."""

import json
from typing import Any

import pytest
from tests.network.loopback import reply
from tests.sources.builtin.providers import desk, why_unavailable

from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.tools.send_notification import send_notification
from pegboard.tools import as_tool

HOOK = {"PEGBOARD_NOTIFY_URL": "http://{host}/hook?of=shop"}
SLACK = HOOK | {"PEGBOARD_NOTIFY_FORMAT": "slack"}
NTFY = {"PEGBOARD_NOTIFY_URL": "http://{host}/push/orders/", "PEGBOARD_NOTIFY_FORMAT": "ntfy"}
NO_PLACE = "it needs a place to post to: set PEGBOARD_NOTIFY_URL to a webhook or an ntfy topic"
FULL = {
    "message": "5 < 6 & <!channel>\nnext line",
    "title": "Import",
    "priority": "high",
    "link": "https://shop.example/report?a=1&b=2",
}


async def sent(variables: dict[str, str], arguments: dict[str, Any]) -> tuple[str, Any]:
    async with desk(reply(b"ok"), variables) as at:
        result = await at.call("send_notification", arguments)
    assert result.unwrap() == {"sent": True}
    return at.request.path, json.loads(at.request.body)


async def test_a_webhook_gets_json() -> None:
    assert await sent(HOOK, FULL) == ("/hook?of=shop", FULL)


async def test_a_message_alone_has_the_defaults() -> None:
    path, body = await sent(HOOK, {"message": "done"})

    assert (path, body) == (
        "/hook?of=shop",
        {"title": "", "message": "done", "priority": "normal", "link": ""},
    )


async def test_slack_gets_text_in_which_nothing_is_a_mention() -> None:
    _, body = await sent(SLACK, FULL)

    assert body == {
        "text": ":rotating_light: *Import*\n5 &lt; 6 &amp; &lt;!channel&gt;\nnext line\n"
        "<https://shop.example/report?a=1&amp;b=2>"
    }


async def test_slack_gets_a_message_alone_as_it_is() -> None:
    assert await sent(SLACK, {"message": "done"}) == ("/hook?of=shop", {"text": "done"})


async def test_ntfy_gets_json_at_its_root_with_the_topic() -> None:
    path, body = await sent(NTFY, FULL)

    assert path == "/push/"
    assert body == {
        "topic": "orders",
        "title": "Import",
        "message": FULL["message"],
        "priority": 5,
        "click": FULL["link"],
    }


async def test_a_line_break_in_a_title_begins_no_header() -> None:
    async with desk(reply(), NTFY | {"PEGBOARD_NOTIFY_TOKEN": "t0ken"}) as at:
        await at.call("send_notification", {"message": "m", "title": "a\r\nX-Evil: 1"})

    assert "x-evil" not in at.request.headers
    assert at.request.headers["authorization"] == "Bearer t0ken"


@pytest.mark.parametrize(
    "link", ["javascript:alert(1)", "//x.example", "https://a|b", "https://a>b", "http://a\nb", "x"]
)
async def test_a_link_is_a_web_address(link: str) -> None:
    async with desk(reply(), SLACK) as at:
        result = await at.call("send_notification", {"message": "m", "link": link})

    assert isinstance(result.error, InvalidRequest)
    assert at.server.requests == []


@pytest.mark.parametrize(
    "arguments", [{}, {"message": ""}, {"message": "x" * 3001}, {"message": "m", "priority": "now"}]
)
async def test_wrong_arguments_send_nothing(arguments: dict[str, Any]) -> None:
    async with desk(reply(), HOOK) as at:
        result = await at.call("send_notification", arguments)

    assert result.is_error
    assert at.server.requests == []


@pytest.mark.parametrize(
    ("variables", "reason"),
    [
        ({}, NO_PLACE),
        ({"PEGBOARD_NOTIFY_TOKEN": "t"}, NO_PLACE),
        (
            {"PEGBOARD_NOTIFY_URL": "https://ntfy.sh/", "PEGBOARD_NOTIFY_FORMAT": "ntfy"},
            "it needs a topic at the end of PEGBOARD_NOTIFY_URL, as https://ntfy.sh/topic",
        ),
        ({"PEGBOARD_NOTIFY_URL": "https://hooks.example/x"}, ""),
    ],
    ids=["nothing", "only a token", "no topic", "complete"],
)
def test_without_an_address_it_is_unavailable(variables: dict[str, str], reason: str) -> None:
    assert why_unavailable("send_notification", variables) == reason


def test_it_counts_as_writing() -> None:
    assert as_tool(send_notification).spec.effect == "write"
