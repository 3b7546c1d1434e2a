"""A login of the person who runs the program: the browser comes back to a port of this machine."""

from collections.abc import Callable
from urllib.parse import urlencode

import httpx2
import pytest

from pegboard.errors import ToolFailed, ToolTimeout
from pegboard.runtime.standalone.loopback_login import LoopbackLogin, LoopbackLogins

CONSENT = "https://auth.example/authorize?client_id=pegboard"


def browser(login: LoopbackLogin, **answer: str) -> Callable[[str], object]:
    """A browser whose person answers the page of consent so, after a page of another program."""

    def show(url: str) -> None:
        assert url == CONSENT
        home = login.redirect_uri.removesuffix("/callback")
        assert httpx2.get(f"{home}/favicon.ico", trust_env=False).status_code == 404
        found = httpx2.get(f"{login.redirect_uri}?{urlencode(answer)}", trust_env=False)
        assert found.text == "You may close this page and go back."

    return show


def a_login(**answer: str) -> LoopbackLogin:
    def show(url: str) -> None:
        browser(login, **answer)(url)

    login = LoopbackLogin(show, timeout=30)
    return login


async def test_the_browser_brings_the_answer_back() -> None:
    login = a_login(code="abc", state="s", iss="https://auth.example")
    before = login.redirect_uri

    answer = await login.ask(CONSENT)

    assert (answer.code, answer.state, answer.issuer) == ("abc", "s", "https://auth.example")
    assert login.redirect_uri == before


async def test_it_can_be_asked_again_at_the_same_address() -> None:
    login = a_login(code="abc", state="s")

    assert [(await login.ask(CONSENT)).code for _ in range(2)] == ["abc", "abc"]


async def test_a_person_who_refuses_ends_it() -> None:
    with pytest.raises(ToolFailed, match=r"^The login was refused: access_denied\.$"):
        await a_login(error="access_denied").ask(CONSENT)


async def test_a_person_who_does_nothing_ends_it_in_time() -> None:
    login = LoopbackLogin(lambda _url: None, timeout=0.01)

    with pytest.raises(ToolTimeout, match="Nobody has logged in within"):
        await login.ask(CONSENT)


async def test_each_source_has_a_login_that_is_kept() -> None:
    logins = LoopbackLogins(show=lambda _url: None)
    await logins.find("github", "").save({"tokens": 1})

    assert await logins.find("github", "acme/ada").load() == {"tokens": 1}
    assert await logins.find("linear", "").load() == {}
