"""What `/ui/` answers: the files of a built console, and its page for every other path."""

import gzip
from pathlib import Path

import httpx2
import pytest
from pydantic import SecretStr
from tests.servers.http.made import TOKEN, a_board, client_of

from pegboard.servers.http.console_files import CSP

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8"}
PAGE = """<!doctype html><html lang="en"><head><title>Pegboard</title>
<script src="./theme.js"></script><link rel="icon" href='./logo.svg'>
<script type="module" crossorigin src="./assets/index-4f2a.js"></script>
<link rel="stylesheet" href="/ui/assets/index-77.css"></head><body></body></html>
"""
SCRIPT = "export const words = " + repr("word " * 400)


@pytest.fixture
def built(tmp_path: Path) -> Path:
    """A built console, beside a file that is none of its own."""
    folder = tmp_path / "dist"
    (folder / "assets").mkdir(parents=True)
    (folder / "index.html").write_text(PAGE)
    (folder / "theme.js").write_text("document.documentElement.dataset.theme = 'dark'")
    (folder / "assets" / "index-4f2a.js").write_text(SCRIPT)
    (tmp_path / "secret.txt").write_text("secret")
    (folder / "assets" / "out.txt").symlink_to(tmp_path / "secret.txt")
    return folder


async def get(tmp_path: Path, built: Path, path: str, **headers: str) -> httpx2.Response:
    async with client_of(a_board(tmp_path), console=(built,)) as client:
        return await client.get(path, headers=headers)


@pytest.mark.parametrize("path", ["/", "/ui"])
async def test_a_browser_is_led_to_the_console(tmp_path: Path, built: Path, path: str) -> None:
    answer = await get(tmp_path, built, path, **BROWSER)

    assert (answer.status_code, answer.headers["location"]) == (307, "ui/")


async def test_a_program_still_gets_the_links(tmp_path: Path, built: Path) -> None:
    answer = await get(tmp_path, built, "/", Accept="*/*")

    assert answer.json()["name"] == "Pegboard"


@pytest.mark.parametrize(
    ("path", "up"),
    [
        ("/ui/", "./"),
        ("/ui/index.html", "./"),
        ("/ui/tools", "./"),
        ("/ui/tools/", "../"),
        ("/ui/tools/shop__refund", "../"),
        ("/ui/runs/a%2Fb?step=1", "../"),
        ("/ui/a/b/c", "../../"),
    ],
)
async def test_a_page_finds_its_files_behind_any_prefix(
    tmp_path: Path, built: Path, path: str, up: str
) -> None:
    answer = await get(tmp_path, built, path)

    assert answer.status_code == 200
    assert answer.headers["content-type"] == "text/html; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.text == PAGE.replace('"./', f'"{up}').replace("'./", f"'{up}").replace(
        '"/ui/', f'"{up}'
    )


async def test_files_with_a_hash_are_kept_for_ever_and_others_are_asked_for_again(
    tmp_path: Path, built: Path
) -> None:
    asset = await get(tmp_path, built, "/ui/assets/index-4f2a.js")
    theme = await get(tmp_path, built, "/ui/theme.js")

    assert (asset.text, asset.headers["content-type"]) == (SCRIPT, "text/javascript; charset=utf-8")
    assert asset.headers["cache-control"] == "public, max-age=31536000, immutable"
    assert theme.headers["cache-control"] == "no-cache"
    assert theme.headers["etag"]


async def test_files_are_sent_compressed(tmp_path: Path, built: Path) -> None:
    async with client_of(a_board(tmp_path), console=(built,)) as client:
        request = client.stream(
            "GET", "/ui/assets/index-4f2a.js", headers={"Accept-Encoding": "gzip"}
        )
        async with request as answer:
            raw = b"".join([piece async for piece in answer.aiter_raw()])

    assert answer.headers["content-encoding"] == "gzip"
    assert answer.headers["vary"] == "Accept-Encoding"
    assert len(raw) < len(SCRIPT) / 4
    assert gzip.decompress(raw).decode() == SCRIPT


@pytest.mark.parametrize(
    "path",
    ["/ui/", "/ui/tools/x", "/ui/theme.js", "/ui/assets/index-4f2a.js", "/ui/assets/gone.js"],
)
async def test_every_answer_has_the_rules_of_the_console(
    tmp_path: Path, built: Path, path: str
) -> None:
    headers = (await get(tmp_path, built, path)).headers
    rules = "default-src 'none'; frame-ancestors 'none'" if "gone" in path else CSP

    assert headers["content-security-policy"] == rules
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert headers["referrer-policy"] == "no-referrer"


@pytest.mark.parametrize(
    "path",
    [
        "/ui/assets/gone.js",
        "/ui/assets/out.txt",
        "/ui/assets/",
        "/ui/assets/%00",
        f"/ui/assets/{'x' * 300}",
    ],
)
async def test_a_file_that_is_not_there_is_no_page(tmp_path: Path, built: Path, path: str) -> None:
    answer = await get(tmp_path, built, path)

    assert (answer.status_code, answer.json()["code"]) == (404, "not_found")
    assert "immutable" not in answer.headers["cache-control"]


@pytest.mark.parametrize(
    "path", ["/ui/..%2fsecret.txt", "/ui/%2e%2e/secret.txt", "/ui/assets/..%2f..%2fsecret.txt"]
)
async def test_no_file_beside_the_console_is_reached(
    tmp_path: Path, built: Path, path: str
) -> None:
    assert "secret" not in (await get(tmp_path, built, path)).text.replace("secret.txt", "")


async def test_the_console_only_answers_questions(tmp_path: Path, built: Path) -> None:
    async with client_of(a_board(tmp_path), console=(built,)) as client:
        head = await client.head("/ui/")
        answers = [await client.request(each, "/ui/") for each in ("POST", "PUT", "DELETE")]

    assert (head.status_code, head.text) == (200, "")
    assert [(each.status_code, each.headers["allow"]) for each in answers] == [
        (405, "GET, HEAD")
    ] * 3


async def test_the_console_needs_no_token_and_gives_nothing_away(
    tmp_path: Path, built: Path
) -> None:
    board = a_board(tmp_path, token=SecretStr(TOKEN))
    async with client_of(board, base_url="https://board.example", console=(built,)) as client:
        pages = [(await client.get(path)).status_code for path in ("/ui", "/ui/", "/ui/tools")]
        closed = await client.get("/v1/tools")

    assert pages == [307, 200, 200]
    assert closed.status_code == 401


@pytest.mark.parametrize("path", ["/ui/", "/ui/tools", "/ui/assets/index-4f2a.js"])
async def test_a_console_that_is_not_built_says_how_to_build_it(
    client: httpx2.AsyncClient, path: str
) -> None:
    answer = await client.get(path)

    assert (answer.status_code, answer.headers["content-security-policy"]) == (404, CSP)
    assert "<code>make web</code>" in answer.text


async def test_a_console_that_is_built_later_is_found(tmp_path: Path, built: Path) -> None:
    (built / "index.html").rename(built / "later")
    async with client_of(a_board(tmp_path), console=(tmp_path / "none", built)) as client:
        before = await client.get("/ui/")
        (built / "later").rename(built / "index.html")
        after = await client.get("/ui/")

    assert (before.status_code, after.status_code) == (404, 200)
