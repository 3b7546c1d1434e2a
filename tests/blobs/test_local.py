"""Contents of files in a folder."""

import stat
from pathlib import Path

import pytest
from tests.blobs.test_contract import in_chunks, put, read

from pegboard.blobs.local import LocalBlobs
from pegboard.errors import Unavailable


def names_below(folder: Path) -> list[str]:
    return [path.name for path in folder.rglob("*")]


async def test_only_this_user_reads_the_files(tmp_path: Path) -> None:
    await put(LocalBlobs(tmp_path / "blobs"), "ab/f1", b"secret")

    file = tmp_path / "blobs" / "ab" / "f1"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(file.parent.stat().st_mode) == 0o700


async def test_nothing_is_left_of_what_was_deleted_or_refused(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path / "blobs")
    await put(blobs, "ab/f1/a", b"one")
    with pytest.raises(Exception, match="more than 1 bytes"):
        await blobs.put("ab/f1/b", in_chunks(b"two"), limit=1)
    assert names_below(tmp_path) == ["blobs", "ab", "f1", "a"]

    await blobs.delete("ab/f1/a")
    assert names_below(tmp_path) == ["blobs"]


async def test_what_a_crash_has_left_is_deleted_with_the_rest(tmp_path: Path) -> None:
    blobs = LocalBlobs(tmp_path)
    await put(blobs, "f1/a", b"one")
    (tmp_path / "f1" / "b.0123.part").write_bytes(b"half")

    await blobs.delete_below("f1", keep="f1/a")
    assert names_below(tmp_path) == ["f1", "a"]


async def test_no_link_leads_out(tmp_path: Path) -> None:
    (tmp_path / "outside").write_bytes(b"secret")
    folder = tmp_path / "blobs"
    folder.mkdir()
    (folder / "f1").symlink_to(tmp_path / "outside")

    with pytest.raises(Unavailable):
        await read(LocalBlobs(folder), "f1")


async def test_a_folder_that_cannot_be_used_is_named_to_no_caller(tmp_path: Path) -> None:
    (tmp_path / "blobs").write_bytes(b"not a folder")

    with pytest.raises(Unavailable) as caught:
        await put(LocalBlobs(tmp_path / "blobs"), "f1", b"x")
    assert str(tmp_path) not in str(caught.value)


async def test_a_temporary_folder_ends_with_its_store() -> None:
    blobs = LocalBlobs()
    await put(blobs, "f1", b"x")
    folder = blobs._root
    await blobs.close()
    await blobs.close()

    assert not folder.exists()
    with pytest.raises(Unavailable, match="closed"):
        await put(blobs, "f2", b"x")
