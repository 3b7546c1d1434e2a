"""Cookies of OAuth flows: one for each flow."""

from urllib.parse import urlencode

import pytest
from fastapi import Request, Response

from pegboard.servers.http.routes.accounts.flow_cookies import FlowCookies

COOKIES = FlowCookies("flow", "/v1/callback", seconds=600.0)


def put(state: str, value: str, *, public_url: str) -> str:
    response = Response()
    COOKIES.put(response, value, state=state, public_url=public_url)
    return response.headers["set-cookie"]


def a_request(state: str, *cookies: str) -> Request:
    pairs = "; ".join(cookie.partition(";")[0] for cookie in cookies)
    return Request(
        {
            "type": "http",
            "headers": [(b"cookie", pairs.encode())],
            "query_string": urlencode({"state": state}).encode(),
        }
    )


def name_of(cookie: str) -> str:
    return cookie.partition("=")[0]


def test_flows_that_are_never_ended_do_not_add_up() -> None:
    cookies = {name_of(put(str(number), "v", public_url="")) for number in range(100)}

    assert len(cookies) == 4


def test_the_cookie_of_a_flow_is_not_that_of_another_in_its_place() -> None:
    cookie = put("a", "of-a", public_url="")
    other = next(
        state
        for state in map(str, range(100))
        if name_of(put(state, "v", public_url="")) == name_of(cookie)
    )
    response = Response()

    COOKIES.remove(a_request(other, cookie), response, public_url="")

    assert COOKIES.read(a_request(other, cookie)) == ""
    assert response.headers.getlist("set-cookie") == []


def test_each_flow_of_a_browser_has_a_cookie_of_its_own() -> None:
    cookies = [put(state, f"of-{state}", public_url="") for state in ("a", "d")]

    assert COOKIES.read(a_request("a", *cookies)) == "of-a"
    assert COOKIES.read(a_request("d", *cookies)) == "of-d"
    assert COOKIES.read(a_request("c", *cookies)) == ""


def test_the_flow_that_has_ended_is_forgotten_and_the_other_is_not() -> None:
    one, other = (put(state, "v", public_url="") for state in ("a", "d"))
    response = Response()

    COOKIES.remove(a_request("a", one, other), response, public_url="")

    [removed] = response.headers.getlist("set-cookie")
    assert removed.partition("=")[0] == one.partition("=")[0]
    assert "Max-Age=0" in removed


@pytest.mark.parametrize(
    ("public_url", "path", "is_secure"),
    [
        ("https://board.example/tools", "/tools/v1/callback", True),
        ("http://127.0.0.1:8321", "/v1/callback", False),
        ("", "/v1/callback", False),
    ],
    ids=["prefix", "loopback", "unknown"],
)
def test_the_callback_alone_gets_the_cookie(public_url: str, path: str, is_secure: bool) -> None:
    cookie = put("a", "v", public_url=public_url)

    assert f"Path={path};" in cookie
    assert ("Secure" in cookie) is is_secure
    assert "HttpOnly" in cookie
    assert "SameSite=lax" in cookie
