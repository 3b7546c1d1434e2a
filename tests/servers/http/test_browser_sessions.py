from collections.abc import Callable

import pytest

from pegboard.servers.http.browser_sessions import BrowserSessions

TOKEN = "correct horse battery staple"


class Clock:
    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


def test_a_session_is_read_back_by_every_server_with_the_token() -> None:
    session = BrowserSessions(TOKEN).begin()

    assert BrowserSessions(TOKEN).read(session.cookie) == session
    assert BrowserSessions(f"{TOKEN}!").read(session.cookie) is None


def test_two_sessions_have_nothing_in_common() -> None:
    sessions = BrowserSessions(TOKEN)
    one, other = sessions.begin(), sessions.begin()

    assert one.cookie != other.cookie
    assert one.csrf != other.csrf
    assert one.csrf not in one.cookie
    assert TOKEN not in one.cookie


def test_a_session_expires() -> None:
    clock = Clock()
    sessions = BrowserSessions(TOKEN, lifetime=60, now=clock)
    session = sessions.begin()

    clock.now += 59
    assert sessions.read(session.cookie) == session
    clock.now += 1
    assert sessions.read(session.cookie) is None


def test_a_session_that_was_ended_stays_ended_and_others_go_on() -> None:
    clock = Clock()
    sessions = BrowserSessions(TOKEN, lifetime=60, now=clock)
    ended, kept = sessions.begin(), sessions.begin()

    sessions.end(ended)
    clock.now += 30
    sessions.end(sessions.begin())

    assert sessions.read(ended.cookie) is None
    assert sessions.read(kept.cookie) == kept


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(lambda cookie: "", id="empty"),
        pytest.param(lambda cookie: "x", id="no parts"),
        pytest.param(lambda cookie: "..", id="empty parts"),
        pytest.param(lambda cookie: f"9{cookie}", id="a later expiry"),
        pytest.param(lambda cookie: cookie[:-1], id="a shorter signature"),
        pytest.param(lambda cookie: f"{cookie}=", id="a longer signature"),
        pytest.param(lambda cookie: f"{cookie.rpartition('.')[0]}.", id="no signature"),
        pytest.param(lambda cookie: f"ä{cookie}", id="beyond ASCII"),
        pytest.param(lambda cookie: "x" * 100_000, id="long"),
    ],
)
def test_a_cookie_that_was_changed_is_none(change: Callable[[str], str]) -> None:
    sessions = BrowserSessions(TOKEN)

    assert sessions.read(change(sessions.begin().cookie)) is None
