"""Places for sessions: counted by who has them, and free again when they end."""

from typing import Any

from starlette.types import Message

from pegboard.servers.mcp.http.session_quota import SessionQuota, SessionSlot


def place_of(shares: SessionQuota, holder: str) -> SessionSlot:
    found = shares.acquire(holder, "")
    assert found is not None
    return found


async def nowhere(_message: Message) -> None:
    pass


def start(status: int, session: str = "") -> dict[str, Any]:
    headers = [(b"mcp-session-id", session.encode())] if session else []
    return {"type": "http.response.start", "status": status, "headers": headers}


def test_each_caller_has_a_share_of_their_own() -> None:
    shares = SessionQuota(2, max_sessions=1_000)
    first = place_of(shares, "ada")
    place_of(shares, "ada")

    assert shares.acquire("ada", "") is None
    assert shares.acquire("eve", "") is not None
    assert len(shares) == 3

    first.release()
    first.release()

    assert len(shares) == 2
    assert shares.acquire("ada", "") is not None


def test_the_refusal_says_what_to_do() -> None:
    answer = SessionQuota(250, max_sessions=1_000).refusal()

    assert answer.status_code == 429
    assert b"250 sessions are in use" in bytes(answer.body)
    assert b"DELETE with their Mcp-Session-Id" in bytes(answer.body)


async def test_a_session_that_is_ended_is_out_of_its_place_before_its_owner_is_told() -> None:
    shares = SessionQuota(1, max_sessions=1_000)
    await shares.watch_start(place_of(shares, "ada"), nowhere)(start(200, "s1"))

    await shares.watch_end("s1", nowhere)(start(404))
    assert shares.acquire("ada", "") is None
    await shares.watch_end("s2", nowhere)(start(200))
    assert shares.acquire("ada", "") is None

    async def told(message: Message) -> None:
        assert len(shares) == 0

    await shares.watch_end("s1", told)(start(200))
    assert shares.acquire("ada", "") is not None


async def test_a_session_that_ended_before_its_id_was_told_is_not_remembered() -> None:
    shares = SessionQuota(1, max_sessions=1_000)
    place = place_of(shares, "ada")
    place.release()

    await shares.watch_start(place, nowhere)(start(200, "s1"))
    second = place_of(shares, "ada")
    await shares.watch_end("s1", nowhere)(start(200))

    assert second.is_held


async def a_session(shares: SessionQuota, holder: str, session: str) -> None:
    await shares.watch_start(place_of(shares, holder), nowhere)(start(200, session))


def replaceable(shares: SessionQuota, holder: str) -> str | None:
    found = shares.find_replaceable(holder, "")
    return found.session if found is not None else None


async def test_the_longest_idle_session_of_a_caller_at_the_limit_makes_room() -> None:
    shares = SessionQuota(3, max_sessions=1_000)
    await a_session(shares, "eve", "e1")
    for session in ("s1", "s2"):
        await a_session(shares, "ada", session)
    assert replaceable(shares, "ada") is None

    await a_session(shares, "ada", "s3")
    with shares.use("s1"):
        assert replaceable(shares, "ada") == "s2"
    assert replaceable(shares, "ada") == "s2"
    with shares.use("s2"), shares.use("s3"):
        assert replaceable(shares, "ada") == "s1"
        with shares.use("s1"):
            assert replaceable(shares, "ada") is None


async def test_the_caller_with_the_most_sessions_makes_room_for_others() -> None:
    shares = SessionQuota(2, max_sessions=3)
    await a_session(shares, "eve", "e1")
    for session in ("s1", "s2"):
        await a_session(shares, "ada", session)

    assert replaceable(shares, "joe") == "s1"
    with shares.use("s1"), shares.use("s2"):
        assert replaceable(shares, "joe") == "e1"
