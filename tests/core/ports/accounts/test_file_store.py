"""Quotas of files."""

import pytest

from pegboard.core.ports.accounts.file_store import FileQuota, FileRecord, FileUsage, check_quota
from pegboard.errors import StorageQuotaExceeded

FILE = FileRecord(id="f1", owner="/ada", name="a", size=10, created_at=0, updated_at=0)


@pytest.mark.parametrize(
    ("usage", "quota"),
    [
        (FileUsage(bytes=90, files=9), FileQuota(bytes=100, files=10)),
        (FileUsage(bytes=10**15, files=10**9), FileQuota()),
    ],
    ids=["just", "none"],
)
def test_what_fits_is_not_refused(usage: FileUsage, quota: FileQuota) -> None:
    check_quota(usage, FILE, quota)


@pytest.mark.parametrize(
    ("usage", "unit", "text"),
    [
        (FileUsage(bytes=91), "bytes", "you store 91 of 100 bytes"),
        (FileUsage(files=10), "files", "You store 10 of 10 files"),
    ],
)
def test_what_does_not_fit_is_refused_with_both_numbers(
    usage: FileUsage, unit: str, text: str
) -> None:
    with pytest.raises(StorageQuotaExceeded, match=text) as caught:
        check_quota(usage, FILE, FileQuota(bytes=100, files=10))
    assert caught.value.unit == unit
