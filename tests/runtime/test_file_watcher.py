import asyncio
from pathlib import Path

import pytest

from pegboard.runtime.file_watcher import FileStates, watch_file


@pytest.mark.parametrize("kind", ["changed", "removed", "made"])
async def test_whatever_happens_to_the_file_is_noticed_once(tmp_path: Path, kind: str) -> None:
    path, noticed, times = tmp_path / "board.yaml", asyncio.Event(), 0
    if kind != "made":
        path.write_text("sources: []")

    async def changed() -> None:
        nonlocal times
        times += 1
        noticed.set()

    following = asyncio.create_task(watch_file(path, changed, every=0.01))
    await asyncio.sleep(0.03)
    assert times == 0
    if kind == "removed":
        path.unlink()
    else:
        path.write_text("sources: [{kind: builtin}]")
    await noticed.wait()
    await asyncio.sleep(0.05)
    following.cancel()

    assert times == 1


async def test_what_happens_before_the_first_look_counts_from_the_call(tmp_path: Path) -> None:
    path, noticed = tmp_path / "board.yaml", asyncio.Event()
    path.write_text("sources: []")

    async def changed() -> None:
        noticed.set()

    coming = watch_file(path, changed, every=0.01)
    path.write_text("sources: [{kind: builtin}]")
    following = asyncio.create_task(coming)
    await noticed.wait()
    following.cancel()


async def test_a_change_that_fails_does_not_end_the_following(tmp_path: Path) -> None:
    path, noticed = tmp_path / "board.yaml", asyncio.Queue[str]()

    async def changed() -> None:
        noticed.put_nowait(path.read_text())
        raise ValueError("odd")

    following = asyncio.create_task(watch_file(path, changed, every=0.01))
    seen: list[str] = []
    for text in ("a", "bb"):
        path.write_text(text)
        seen.append(await noticed.get())
    following.cancel()

    assert seen == ["a", "bb"]


def test_the_names_of_new_changed_and_removed_files_are_found_once(tmp_path: Path) -> None:
    for name in ("same", "changed", "gone"):
        (tmp_path / name).write_text("a")
    states = FileStates(tmp_path.iterdir)
    (tmp_path / "changed").write_text("bb")
    (tmp_path / "gone").unlink()
    (tmp_path / "new").write_text("a")

    assert states.find_changes() == ["changed", "gone", "new"]
    assert states.find_changes() == []


def test_files_that_are_only_now_listed_are_no_change(tmp_path: Path) -> None:
    (tmp_path / "a").write_text("a")
    states = FileStates(tmp_path.iterdir)
    (tmp_path / "b").write_text("b")
    states.add_new((tmp_path / "b").stat().st_mtime_ns)
    (tmp_path / "a").write_text("aa")

    assert states.find_changes() == ["a"]


def test_a_listed_file_that_was_written_after_it_was_read_has_changed(tmp_path: Path) -> None:
    states = FileStates(tmp_path.iterdir)
    (tmp_path / "b").write_text("b")
    states.add_new((tmp_path / "b").stat().st_mtime_ns - 1)

    assert states.find_changes() == ["b"]
    assert states.find_changes() == []


def test_a_folder_that_cannot_be_read_is_no_change(tmp_path: Path) -> None:
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a").write_text("a")
    states = FileStates(folder.iterdir)
    folder.rename(tmp_path / "elsewhere")

    assert states.find_changes() == []
