"""Files and uploads as JSON."""

from tests.features.files.made import ADA, BOB, LIMITS
from tests.storage.test_files import a_file

from pegboard.core.ports.accounts.file_store import FilePage, FilePart, FileUsage
from pegboard.features.files.schemas import (
    BeginUpload,
    FileList,
    UploadAnswer,
    files_to_dict,
    upload_to_dict,
)
from pegboard.features.files.uploads import NewUpload


def test_an_upload_is_answered_as_it_is_described() -> None:
    part = FilePart(key="f1/p", size=4, digest="d")
    begun = UploadAnswer.model_validate(upload_to_dict(a_file(parts=(part,)), LIMITS))
    finished = UploadAnswer.model_validate(upload_to_dict(a_file(state="ready"), LIMITS))

    assert (begun.offset, begun.is_finished) == (4, False)
    assert (finished.offset, finished.is_finished) == (10, True)


def test_a_page_of_files_is_answered_as_it_is_described() -> None:
    page = FilePage(files=[a_file(owner=ADA.owner), a_file(owner=BOB.owner)], next_cursor="c")
    shown = FileList.model_validate(files_to_dict(page, FileUsage(bytes=20, files=2), LIMITS, ADA))

    assert [file.is_own for file in shown.files] == [True, False]
    assert (shown.usage.bytes, shown.usage.max_bytes) == (20, LIMITS.quota.bytes)


def test_a_body_becomes_an_upload() -> None:
    body = BeginUpload(name="a", size=1, purpose="chat")

    assert body.to_upload() == NewUpload(name="a", size=1, purpose="chat")
