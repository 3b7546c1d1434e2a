import subprocess
import sys
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import LOOPBACK, a_board

from pegboard.errors import ConfigError
from pegboard.servers.http import create_app

HEAVY = ("fastapi", "starlette", "uvicorn", "prometheus_client", "anyio", "sqlalchemy", "sqlglot")


async def test_the_application_opens_a_board_and_closes_it(tmp_path: Path) -> None:
    board = a_board(tmp_path)
    app = create_app(board)

    async with app.router.lifespan_context(app):
        inside = board.is_open

    assert (inside, board.is_open) == (True, False)


async def test_a_board_that_is_open_already_stays_open(tmp_path: Path) -> None:
    async with a_board(tmp_path) as board:
        app = create_app(board)

        async with app.router.lifespan_context(app):
            pass

        assert board.is_open


async def test_a_mistake_in_the_board_keeps_the_application_from_starting(tmp_path: Path) -> None:
    app = create_app(a_board(tmp_path, text="souces: []"))

    with pytest.raises(ConfigError, match="souces"):
        async with app.router.lifespan_context(app):
            pass


async def test_two_applications_of_two_boards_do_not_mix(tmp_path: Path) -> None:
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    async with a_board(tmp_path / "a") as one, a_board(tmp_path / "b", tools=()) as other:
        found = [
            (await client.get("/readyz")).json()["tools"]
            for board in (one, other)
            for client in [
                httpx2.AsyncClient(
                    transport=httpx2.ASGITransport(app=create_app(board)), base_url=LOOPBACK
                )
            ]
        ]

    assert found == [17, 1]


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/healthz", 200),
        ("/v1/healthz", 200),
        ("/board/v1/healthz", 200),
        ("/v1/v1/healthz", 404),
        ("/else/v1/healthz", 404),
        ("/v1", 404),
        ("/v1/", 404),
        ("/v10/healthz", 404),
    ],
)
async def test_each_route_is_there_with_and_without_a_version(
    tmp_path: Path, path: str, status: int
) -> None:
    async with a_board(tmp_path) as board:
        transport = httpx2.ASGITransport(app=create_app(board), root_path="/board")
        async with httpx2.AsyncClient(transport=transport, base_url=LOOPBACK) as client:
            answer = await client.get(path)

    assert answer.status_code == status


async def test_a_method_that_a_route_with_a_version_lacks_is_not_allowed(tmp_path: Path) -> None:
    async with a_board(tmp_path) as board:
        transport = httpx2.ASGITransport(app=create_app(board))
        async with httpx2.AsyncClient(transport=transport, base_url=LOOPBACK) as client:
            answer = await client.put("/v1/healthz")

    assert answer.status_code == 405


def test_an_empty_token_is_found_before_anything_is_served(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match="PEGBOARD_TOKEN is empty"):
        create_app(a_board(tmp_path, token=SecretStr("")))


@pytest.mark.slow
def test_the_door_is_imported_without_what_it_is_made_of() -> None:
    code = "import sys, pegboard.servers.http; print(*sys.modules)"

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert {name.partition(".")[0] for name in done.stdout.split()} & set(HEAVY) == set()
