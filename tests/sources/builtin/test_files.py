from pathlib import Path
from typing import Any

import pytest

from pegboard.core.context import ToolContext
from pegboard.core.ports.services import Services
from pegboard.core.principal import Principal
from pegboard.errors import InvalidRequest
from pegboard.sources.builtin.tools.file_edit import file_edit
from pegboard.sources.builtin.tools.file_list import file_list
from pegboard.sources.builtin.tools.file_read import file_read
from pegboard.sources.builtin.tools.file_search import file_search
from pegboard.sources.builtin.tools.file_write import file_write
from pegboard.sources.builtin.workspaces import unavailable


@pytest.fixture
def ctx(tmp_path: Path) -> ToolContext[Services]:
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.md").write_text("One\ntwo TWO\nthree\n")
    (tmp_path / "notes" / "b.txt").write_text("two\n")
    (tmp_path / "logo.png").write_bytes(b"\x89PNG\r\n\x1a\n\0\xff")
    return ToolContext(deps=Services(workspace=tmp_path))


def structured(result: Any) -> dict[str, Any]:
    return result.structured


def test_a_text_file_is_read(ctx) -> None:
    result = file_read("notes/a.md", ctx)

    assert result.content == "One\ntwo TWO\nthree\n"
    assert structured(result) == {
        "path": "notes/a.md",
        "text": "One\ntwo TWO\nthree\n",
        "first_line": 1,
        "last_line": 3,
        "lines": 3,
        "next_offset": None,
    }


def test_a_long_file_comes_in_pages(ctx) -> None:
    file_write("long.txt", "".join(f"line {n}\n" for n in range(1, 26)), ctx)
    pages: list[str] = []
    offset = 1

    while offset:
        result = file_read("long.txt", ctx, offset=offset, limit=10)
        pages.append(str(result.content))
        offset = structured(result)["next_offset"]

    assert [page.count("\n") for page in pages] == [10, 10, 5]
    assert "".join(pages) == "".join(f"line {n}\n" for n in range(1, 26))


def test_pages_are_bounded_in_characters_too(ctx) -> None:
    file_write("wide.txt", ("x" * 150_000 + "\n") * 2 + "y" * 300_000, ctx)

    sizes = [len(file_read("wide.txt", ctx, offset=offset).content) for offset in (1, 2, 3)]

    assert sizes == [150_001, 150_001, 200_000]


def test_an_empty_file_has_no_lines(ctx) -> None:
    file_write("empty", "", ctx)

    result = file_read("empty", ctx)

    assert (result.content, structured(result)["lines"]) == ("", 0)


def test_a_binary_file_is_an_artifact(ctx) -> None:
    result = file_read("logo.png", ctx)

    assert result.artifacts[0].name == "logo.png"
    assert result.artifacts[0].media_type == "image/png"
    assert result.artifacts[0].data == b"\x89PNG\r\n\x1a\n\0\xff"
    assert "not a text file" in str(result.content)


def test_a_page_beyond_the_end_is_refused(ctx) -> None:
    with pytest.raises(InvalidRequest, match="has 3 lines; line 4 does not exist"):
        file_read("notes/a.md", ctx, offset=4)


def test_a_folder_is_listed(ctx) -> None:
    found = file_list(ctx)

    assert [(item["path"], item["kind"], item["size"]) for item in found["entries"]] == [
        ("logo.png", "file", 10),
        ("notes", "folder", 0),
    ]
    assert found["entries"][0]["modified"].endswith("Z")


def test_folders_are_listed_with_their_contents_by_pattern(ctx) -> None:
    found = file_list(ctx, recursive=True, pattern="*.md")

    assert [item["path"] for item in found["entries"]] == ["notes/a.md"]


def test_a_listing_is_cut_at_its_limit(ctx) -> None:
    found = file_list(ctx, recursive=True, limit=2)

    assert (len(found["entries"]), found["truncated"]) == (2, True)


def test_a_text_is_found_in_all_files(ctx) -> None:
    found = file_search("two", ctx)

    assert found == {
        "matches": [
            {"path": "notes/a.md", "line": 2, "text": "two TWO"},
            {"path": "notes/b.txt", "line": 1, "text": "two"},
        ],
        "files_searched": 3,
        "truncated": False,
    }


@pytest.mark.parametrize(
    ("arguments", "paths"),
    [
        ({"query": "t.o"}, []),
        ({"query": "t.o", "regex": True}, ["notes/a.md", "notes/b.txt"]),
        ({"query": "^three$", "regex": True}, ["notes/a.md"]),
        ({"query": "ONE"}, []),
        ({"query": "ONE", "ignore_case": True}, ["notes/a.md"]),
        ({"query": "two", "pattern": "*.txt"}, ["notes/b.txt"]),
        ({"query": "two", "path": "notes", "limit": 1}, ["notes/a.md"]),
        ({"query": "PNG"}, []),
    ],
)
def test_a_search_is_narrowed(ctx, arguments, paths) -> None:
    assert [match["path"] for match in file_search(ctx=ctx, **arguments)["matches"]] == paths


def test_a_search_that_is_cut_says_so(ctx) -> None:
    assert file_search("two", ctx, limit=1)["truncated"] is True


def test_a_file_is_created_overwritten_and_appended_to(ctx, tmp_path: Path) -> None:
    created = file_write("new/n.txt", "1", ctx)
    overwritten = file_write("new/n.txt", "ü", ctx, mode="overwrite")
    appended = file_write("new/n.txt", "3", ctx, mode="append")

    assert created == {"path": "new/n.txt", "bytes": 1, "created": True}
    assert overwritten == {"path": "new/n.txt", "bytes": 2, "created": False}
    assert appended == {"path": "new/n.txt", "bytes": 3, "created": False}
    assert (tmp_path / "new" / "n.txt").read_text() == "ü3"


def test_appending_to_nothing_creates_a_file(ctx) -> None:
    assert file_write("log.txt", "1", ctx, mode="append")["created"] is True


def test_appending_does_not_forgive_a_bad_path(ctx) -> None:
    with pytest.raises(InvalidRequest, match="leads out"):
        file_write("../log.txt", "1", ctx, mode="append")


def test_appending_stops_at_the_size_limit(ctx) -> None:
    for _ in range(2):
        file_write("big.txt", "x" * 5_000_000, ctx, mode="append")

    with pytest.raises(InvalidRequest, match="would become larger"):
        file_write("big.txt", "x", ctx, mode="append")


def test_an_edit_replaces_exactly_one_place(ctx, tmp_path: Path) -> None:
    edited = file_edit("notes/a.md", "two TWO", "2", ctx)

    assert edited == {"path": "notes/a.md", "replaced": 1, "first_line": 2}
    assert (tmp_path / "notes" / "a.md").read_text() == "One\n2\nthree\n"


def test_an_edit_replaces_all_on_request(ctx, tmp_path: Path) -> None:
    assert file_edit("notes/a.md", "e", "E", ctx, replace_all=True)["replaced"] == 3
    assert (tmp_path / "notes" / "a.md").read_text() == "OnE\ntwo TWO\nthrEE\n"


@pytest.mark.parametrize(
    ("path", "old", "new", "reason"),
    [
        ("notes/a.md", "four", "4", "does not occur"),
        ("notes/a.md", "e", "E", "occurs 3 times"),
        ("logo.png", "x", "y", "not a text file"),
        ("nothing.md", "x", "y", "does not exist"),
    ],
)
def test_an_edit_that_is_not_clear_changes_nothing(ctx, path, old, new, reason) -> None:
    with pytest.raises(InvalidRequest, match=reason):
        file_edit(path, old, new, ctx)


def test_an_edit_that_would_explode_is_refused_at_once(ctx) -> None:
    file_write("a.txt", "a" * 1_000_000, ctx)

    with pytest.raises(InvalidRequest, match="would become larger"):
        file_edit("a.txt", "a", "b" * 1_000_000, ctx, replace_all=True)


def test_a_calls_own_workspace_comes_before_the_boards(ctx, tmp_path: Path) -> None:
    own = ToolContext(deps=ctx.deps, workspace=tmp_path / "own")

    file_write("x.txt", "1", own)

    assert (tmp_path / "own" / "x.txt").read_text() == "1"


def test_without_a_workspace_each_caller_has_a_private_one() -> None:
    ann: ToolContext[Any] = ToolContext(principal=Principal(id="ann"))
    bob: ToolContext[Any] = ToolContext(principal=Principal(id="bob"))
    ann_elsewhere: ToolContext[Any] = ToolContext(principal=Principal(id="ann", tenant="other"))

    file_write("mine.txt", "secret", ann, mode="overwrite")

    assert [item["path"] for item in file_list(ann)["entries"]] == ["mine.txt"]
    assert file_list(bob)["entries"] == []
    assert file_list(ann_elsewhere)["entries"] == []


def test_a_system_without_folder_descriptors_cannot_jail(monkeypatch: pytest.MonkeyPatch) -> None:
    assert unavailable(Services()) == ""

    monkeypatch.setattr("os.supports_dir_fd", set())

    assert "jail would leak" in unavailable(Services())
