"""What strangers try at the door: guesses, fixed sessions, names that look alike."""

import asyncio
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board
from tests.servers.http.people import ADA, BOB, House

from pegboard.features.identity.sign_in_limits import MAX_OF_BOTH
from pegboard.servers.http.browser_sessions import COOKIE


@pytest.fixture
async def house(tmp_path: Path) -> AsyncGenerator[House]:
    async with a_board(tmp_path, token=SecretStr(TOKEN)) as board:
        yield House(board)


@pytest.mark.slow
@pytest.mark.timeout(60)
async def test_of_a_thousand_guesses_ten_are_looked_at(house: House) -> None:
    await house.found()
    browser = house.client()

    async def guess(number: int) -> int:
        body = {"name": "ada", "password": f"guess {number}"}
        return (await browser.post("/v1/session", json=body)).status_code

    statuses: Counter[int] = Counter()
    for batch in range(20):
        statuses.update(await asyncio.gather(*(guess(batch * 50 + n) for n in range(50))))
    right = await browser.post("/v1/session", json={"name": "ada", "password": ADA["password"]})

    assert statuses == {401: MAX_OF_BOTH, 429: 1000 - MAX_OF_BOTH}
    assert right.status_code == 429


async def test_a_session_that_was_fixed_before_signs_nobody_in(house: House) -> None:
    await house.found()
    browser = house.client()
    browser.headers["Cookie"] = f"{COOKIE}=chosen-by-an-attacker"

    signed = await browser.post("/v1/session", json={"name": "ada", "password": ADA["password"]})

    given = signed.headers["set-cookie"].partition(f"{COOKIE}=")[2].partition(";")[0]
    assert signed.status_code == 200
    assert given != "chosen-by-an-attacker"
    assert (await browser.get("/v1/tools")).status_code == 401


@pytest.mark.parametrize(
    "handle",
    [
        pytest.param("\u0430da", id="a Cyrillic letter"),
        pytest.param("ada\u200b", id="a space that is not seen"),
        pytest.param("a\u0307da", id="a mark"),
        pytest.param("\uff41da", id="a wide letter"),
        pytest.param("ADA", id="capitals"),
        pytest.param("ada\n", id="a new line"),
        pytest.param("a\u0663", id="a digit of another script"),
        pytest.param("ada", id="the same"),
    ],
)
async def test_no_handle_looks_like_another(house: House, handle: str) -> None:
    ada = await house.found()
    link = await house.make_link(ada, organisation="acme")

    answer = await house.client().post(
        "/v1/people/join", json={"link": link, **BOB, "handle": handle}
    )

    assert answer.status_code in {400, 422}
    assert [it["handle"] for it in (await ada.get("/v1/people")).json()["people"]] == ["ada"]


async def test_of_two_who_open_a_link_at_once_one_gets_an_account(house: House) -> None:
    ada = await house.found()
    link = await house.make_link(ada, organisation="acme")
    joining = [
        asyncio.create_task(
            house.client().post(
                "/v1/people/join",
                json={"link": link, "handle": name, "password": "correct horse"},
            )
        )
        for name in ("bob", "eve")
    ]
    await asyncio.wait(joining)

    assert sorted(task.result().status_code for task in joining) == [201, 404]
    assert len((await ada.get("/v1/people")).json()["people"]) == 2


async def test_what_is_no_single_valid_key_names_nobody(house: House) -> None:
    ada = await house.found()
    key = (await ada.post("/v1/keys", json={"name": "ci"})).json()["key"]
    revoked = (await ada.post("/v1/keys", json={"name": "old"})).json()
    await ada.delete(f"/v1/keys/{revoked['id']}")
    sent = [
        [("Authorization", f"Bearer {key}"), ("Authorization", "Bearer x")],
        [("Authorization", "Bearer x"), ("Authorization", f"Bearer {key}")],
        [("Authorization", f"Bearer x, Bearer {key}")],
        [("Authorization", f"Basic {key}")],
        [("Authorization", key)],
        [("Authorization", f"Bearer {key}x")],
        [("Authorization", f"Bearer {key[:-1]}")],
        [("Authorization", f"Bearer {revoked['key']}")],
        [("Authorization", "Bearer now::acme:local")],
        [("Cookie", f"{COOKIE}=now::acme:local")],
        [("Cookie", f"{COOKIE}={key}")],
        [("X-Authorization", f"Bearer {key}")],
    ]
    async with house.client() as stranger:
        statuses = [
            (await stranger.get("/v1/tools", headers=headers)).status_code for headers in sent
        ]
        right = await stranger.get("/v1/tools", headers=[("authorization", f"bearer {key}")])

    assert statuses == [401] * len(sent)
    assert right.status_code == 200


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://127.0.0.1:9"])
async def test_a_session_changes_nothing_for_a_page_of_another_origin(
    house: House, origin: str
) -> None:
    ada = await house.found()

    answer = await ada.post("/v1/keys", json={"name": "ci"}, headers={"Origin": origin})

    assert (answer.status_code, answer.json()["code"]) == (403, "origin_not_allowed")
