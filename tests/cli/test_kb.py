"""`pegboard kb`: documents put in, listed, asked and removed, on a board of this process."""

import asyncio
import json
from pathlib import Path

import pytest
from tests.cli.conftest import Command

from pegboard import Pegboard
from pegboard.cli.client.knowledge import LocalKnowledge
from pegboard.cli.commands.kb.check import check_one, describe_check
from pegboard.cli.commands.kb.group import show_answer
from pegboard.core.principal import LOCAL
from pegboard.errors import ResourceNotFound

DATA = {"PEGBOARD_DATA": "data"}
TEXT = "Records can be returned within 30 days of purchase."


def test_a_missing_file_is_refused_before_a_base_is_made(pegboard: Command, tmp_path: Path) -> None:
    data = {"PEGBOARD_DATA": str(tmp_path / "data")}
    here = tmp_path / "here.md"
    here.write_text(TEXT)

    added = pegboard("kb", "add", "handbook", str(here), "missing.md", **data)

    assert (added.returncode, added.stderr) == (
        2,
        "pegboard: There is no file or folder 'missing.md'.\n",
    )
    assert "handbook" not in pegboard("kb", "list", **data).stdout


def test_removing_a_base_asks_and_counts_what_goes(pegboard: Command, tmp_path: Path) -> None:
    data = {"PEGBOARD_DATA": str(tmp_path / "data")}
    (tmp_path / "here.md").write_text(TEXT)
    pegboard("kb", "add", "handbook", str(tmp_path / "here.md"), **data)

    asked = pegboard("kb", "remove", "handbook", stdin="n\n", **data)

    assert "Delete 1 document (1 piece) and every stored quote for good?" in asked.stdout
    assert "handbook" in pegboard("kb", "list", **data).stdout


async def test_a_file_is_put_in_asked_and_removed(tmp_path: Path) -> None:
    file = tmp_path / "returns.md"
    file.write_text(TEXT)
    async with Pegboard() as board:
        kb = LocalKnowledge(board.knowledge, LOCAL)
        base = await kb.add_base({"name": "handbook"})
        added = await kb.add_file("handbook", file, {"edition": "2024"})
        document = added["documents"][0]["document"]["id"]
        while (await kb.list_documents("handbook"))["documents"][0]["state"] != "ready":
            assert not await kb.is_gathering("handbook")
            await asyncio.sleep(0.02)

        lines: list[str] = []
        asked = {"question": "When can records be returned?", "mode": "simple"}
        show_answer(await kb.ask("handbook", asked), lines.append)

        assert "returns.md (2024)" in lines[0]
        assert f"“{TEXT}”" in lines[0]
        file.write_text(TEXT.replace("30", "90"))
        checked = await kb.check_file("handbook", file, {})
        assert describe_check(checked) == [
            f"returns.md: 1 passage changed since 'returns.md' ({document})",
            "  passages: 0 added, 0 removed, 1 changed",
            "  0 of 1 piece would be embedded",
        ]
        assert (await kb.count_deletion("handbook", document))["documents"] == 1
        await kb.remove("handbook", document)
        assert (await kb.list_documents(base["id"]))["documents"] == []
        lines.clear()
        show_answer(await kb.ask("handbook", asked), lines.append)
        assert lines[0] == (
            "handbook: it has no documents yet: 'pegboard kb add handbook FILE' adds one"
        )
        await kb.remove("handbook", "")
        with pytest.raises(ResourceNotFound):
            await kb.list_documents("handbook")


def test_a_file_that_cannot_be_read_ends_with_a_failure_and_the_others_are_put_in(
    pegboard: Command, folder: Path
) -> None:
    files = [folder / name for name in ("blank.md", "returns.md")]
    files[0].write_text(" ")
    files[1].write_text(TEXT)

    added = pegboard("kb", "add", "handbook", *map(str, files))

    assert added.returncode == 1
    assert sorted(line.split()[1] for line in added.stdout.splitlines()[1:]) == ["failed", "ready"]


def test_an_address_that_is_refused_says_why(pegboard: Command) -> None:
    added = pegboard("kb", "add", "handbook", "http://127.0.0.1:9/")

    assert added.returncode == 1
    assert "127.0.0.1" in added.stderr


async def test_a_check_says_of_a_file_that_it_cannot_be_read(tmp_path: Path) -> None:
    file = tmp_path / "blank.md"
    file.write_text(" ")
    async with Pegboard() as board:
        kb = LocalKnowledge(board.knowledge, LOCAL)
        await kb.add_base({"name": "handbook"})

        checked = await check_one(kb, "handbook", file, {})

    assert checked["error"]["code"] == "document_unreadable"
    assert describe_check(checked) == ["blank.md: cannot be read: It is empty."]


def test_two_files_of_one_name_are_refused_before_one_takes_the_place_of_the_other(
    pegboard: Command, folder: Path
) -> None:
    files = [folder / name / "readme.md" for name in ("a", "b")]
    for file in files:
        file.parent.mkdir()
        file.write_text(TEXT)

    refused = pegboard("kb", "add", "handbook", *map(str, files))

    assert refused.returncode == 2
    assert "have the same name" in refused.stderr


def test_what_could_not_be_searched_is_told() -> None:
    look = {
        "name": "handbook",
        "failure": "",
        "skipped": ["meaning", "rerank"],
        "documents": 2,
        "not_ready": [],
    }
    answer = {"looks": [look], "mode": "simple", "hits": [], "quotes": []}
    lines: list[str] = []

    show_answer(answer, lines.append)

    assert lines == [
        "handbook: the embedding model failed, so this was found by words alone",
        "handbook: the reranker failed, so this is in the order without it",
        "Nothing was found.",
    ]


def test_an_empty_base_of_the_board_file_says_how_its_documents_are_taken_in(
    pegboard: Command, tmp_path: Path
) -> None:
    (tmp_path / "guides").mkdir()
    board = tmp_path / "declared.yaml"
    board.write_text("knowledge:\n  - {name: guides, folder: guides}\n")
    where = ("--board", str(board), "--data", str(tmp_path / "data"))

    asked = pegboard("kb", "ask", "guides", "What?", "--mode", "simple", *where)

    assert asked.stdout.splitlines()[0] == (
        "guides: it has no documents yet: 'pegboard kb add guides' takes in those that the board "
        "file names, 'pegboard kb add guides FILE' adds one"
    )


def test_the_pages_that_changed_are_named() -> None:
    pages = {"total": 52, "unchanged": 49, "changed": [3, 7], "new": [50], "vanished": [9]}
    checked = {
        "outcome": "changed",
        "name": "handbook.pdf",
        "document": "d_1",
        "title": "Handbook",
        "pages": pages,
        "passages": {"added": 1, "removed": 0, "changed": 2},
        "pieces": 300,
        "embedded": 12,
        "held": 1,
    }

    assert describe_check(checked) == [
        "handbook.pdf: 3 of 52 pages changed since 'Handbook' (d_1)",
        "  changed: pages 3, 7",
        "  new: pages 50",
        "  vanished: pages 9",
        "  passages: 1 added, 0 removed, 2 changed",
        "  12 of 300 pieces would be embedded",
        "  1 place would hold it back for a review",
    ]


def test_a_file_that_is_here_already_can_be_said_to_replace_another(
    pegboard: Command, folder: Path
) -> None:
    old, new = folder / "2023.md", folder / "2024.md"
    old.write_text(TEXT.replace("30", "14"))
    new.write_text(TEXT)
    pegboard("kb", "add", "handbook", str(old), str(new), **DATA)
    documents = json.loads(pegboard("kb", "list", "handbook", "--json", **DATA).stdout)["documents"]
    ids = {item["path"]: item["id"] for item in documents}

    pegboard("kb", "add", "handbook", str(new), "--replaces", ids["2023.md"], **DATA)

    documents = json.loads(pegboard("kb", "list", "handbook", "--json", **DATA).stdout)["documents"]
    replaced = {item["path"]: item["replaced_by"] for item in documents}
    assert replaced == {"2024.md": "", "2023.md": ids["2024.md"]}
