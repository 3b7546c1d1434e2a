"""The pages of a site become documents, over real HTTP."""

import asyncio
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest
from tests.network.loopback import Received, Server, reply, serving

from pegboard import Pegboard
from pegboard.core.graph import NodeState
from pegboard.core.principal import LOCAL
from pegboard.core.run import RunResult
from pegboard.features.knowledge import DocumentQuery, NewBase
from pegboard.features.knowledge.bases import DocumentSource
from pegboard.features.knowledge.document_sources import gather_graph

HTML = {"content-type": "text/html; charset=utf-8"}
ROBOTS = b"User-agent: *\nDisallow: /guide/secret\n"


def page(title: str, *links: str) -> bytes:
    """An HTML page with links."""
    anchors = "".join(f"<p><a href='{link}'>on</a></p>" for link in links)
    return reply(f"<h1>{title}</h1><p>About {title}.</p>{anchors}".encode(), headers=HTML)


def onward(place: str) -> bytes:
    """A redirect."""
    return reply(b"", status=302, headers={"location": place})


class Site:
    """A site, and the board that takes it in."""

    def __init__(self) -> None:
        self.pages: dict[str, bytes] = {}
        self.endless: set[str] = set()
        self.server = Server()

    async def answer(self, received: Received, writer: asyncio.StreamWriter) -> None:
        """Answer one request."""
        if received.path in self.endless:
            writer.write(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n")
            while not writer.is_closing():
                writer.write(b"<p>more</p>" * 10_000)
                await writer.drain()
        writer.write(self.pages.get(received.path, reply(b"no", status=404)))

    @property
    def asked(self) -> list[str]:
        """The paths that were asked for."""
        return [item.path for item in self.server.requests]

    async def crawl(self, folder: Path, *, at_most: int = 20) -> tuple[RunResult, set[str]]:
        """Take it in from `/guide/`; how the run ended, and the paths of the documents."""
        root = f"http://{self.server.authority}"
        (folder / "board.yaml").write_text(
            f"network: {{allow_hosts: ['{self.server.authority}']}}\n"
        )
        async with Pegboard(folder / "board.yaml") as board:
            base = await board.knowledge.add_base(NewBase(name="site"), principal=LOCAL)
            wanted = DocumentSource(base=base.id, url=f"{root}/guide/", below=True, at_most=at_most)
            started = await board.runs.start_graph(gather_graph(wanted), principal=LOCAL)
            ended = await board.runs.wait(started.id, principal=LOCAL)
            query = DocumentQuery(limit=500)
            rows, _ = await board.knowledge.documents.list_page(base, query, principal=LOCAL)
        return ended.result, {row.outer_id.removeprefix(root) for row in rows}


@pytest.fixture
async def site() -> AsyncGenerator[Site]:
    made = Site()
    made.pages["/robots.txt"] = reply(ROBOTS)
    async with serving(made.answer) as server:
        made.server = server
        yield made


@pytest.mark.slow
async def test_pages_below_the_first_one_are_taken_in_each_once(site: Site, tmp_path: Path) -> None:
    site.pages |= {
        "/guide/": page("start", "a", "b#part", "/other", "https://elsewhere.example/guide/x"),
        "/guide/a": page("a", "b", "/guide/", "a"),
        "/guide/b": page("b", "a", "gone", "old"),
        "/guide/old": onward("/guide/a"),
        "/other": page("other"),
    }

    result, paths = await site.crawl(tmp_path)

    assert paths == {"/guide/", "/guide/a", "/guide/b"}
    assert sorted(set(site.asked)) == [
        "/guide/", "/guide/a", "/guide/b", "/guide/gone", "/guide/old", "/robots.txt",
    ]  # fmt: skip
    assert result.output["new"] == 3
    assert result.output["failed"] == 1
    (fault,) = result.output["faults"]
    assert (fault["code"], fault["place"].endswith("/guide/gone")) == ("request_invalid", True)
    assert fault["message"].endswith("/guide/gone answered 404.")
    assert result.output["already_here"] == 1


async def test_a_first_page_that_cannot_be_fetched_ends_the_run_with_its_reason(
    site: Site, tmp_path: Path
) -> None:
    result, paths = await site.crawl(tmp_path)

    assert (result.state, paths) == (NodeState.FAILED, set())
    assert result.error is not None
    assert str(result.error["message"]).endswith("/guide/ answered 404.")


async def test_what_the_robots_file_forbids_is_not_fetched(site: Site, tmp_path: Path) -> None:
    site.pages |= {
        "/guide/": page("start", "secret/plan", "a"),
        "/guide/secret/plan": page("plan"),
        "/guide/a": page("a"),
    }

    result, paths = await site.crawl(tmp_path)

    assert paths == {"/guide/", "/guide/a"}
    assert "/guide/secret/plan" not in site.asked
    assert result.output["failed"] == 1


async def test_a_robots_file_that_cannot_be_read_forbids_all_but_the_first_page(
    site: Site, tmp_path: Path
) -> None:
    site.pages |= {
        "/robots.txt": reply(b"broken", status=500),
        "/guide/": page("start", "a"),
        "/guide/a": page("a"),
    }

    _, paths = await site.crawl(tmp_path)

    assert paths == {"/guide/"}
    assert "/guide/a" not in site.asked


async def test_links_and_redirects_that_lead_inside_or_away_are_refused(
    site: Site, tmp_path: Path
) -> None:
    async with serving(site.answer) as inside:
        site.pages |= {
            "/guide/": page("start", "in", "out", "loop", "meta", "a"),
            "/guide/in": onward(f"http://127.0.0.1:{inside.port}/guide/secrets"),
            "/guide/meta": onward("http://169.254.169.254/latest/meta-data/"),
            "/guide/out": onward("/other"),
            "/guide/loop": onward("/guide/loop"),
            "/guide/secrets": page("secrets"),
            "/guide/a": page("a"),
            "/other": page("other"),
        }

        result, paths = await site.crawl(tmp_path)

        assert inside.requests == []
    assert paths == {"/guide/", "/guide/a"}
    assert result.output["failed"] == 4


async def test_a_page_that_never_ends_fails_and_the_rest_goes_on(
    site: Site, tmp_path: Path
) -> None:
    site.endless.add("/guide/endless")
    site.pages |= {"/guide/": page("start", "endless", "a"), "/guide/a": page("a")}

    result, paths = await site.crawl(tmp_path)

    assert paths == {"/guide/", "/guide/a"}
    assert result.output["failed"] == 1


@pytest.mark.slow
async def test_a_site_of_endless_links_ends_at_its_limit(site: Site, tmp_path: Path) -> None:
    site.pages["/guide/"] = page("start", *[f"p{number}" for number in range(30)])
    site.pages |= {f"/guide/p{it}": page(f"p{it}", f"p{it + 1}?x={it}") for it in range(30)}

    _, paths = await site.crawl(tmp_path, at_most=5)

    assert len(paths) == 5
