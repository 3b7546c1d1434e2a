"""Contents of files in a bucket."""

from dataclasses import replace

import obstore
import pytest
from obstore.store import S3Store
from tests.blobs.test_contract import put

from pegboard.blobs.s3 import S3Access, S3Blobs
from pegboard.errors import Unavailable

pytestmark = pytest.mark.timeout(60)


async def test_objects_stand_below_the_prefix(bucket: S3Access) -> None:
    await put(S3Blobs(bucket), "ab/f1", b"x")

    client = S3Store(
        bucket.bucket,
        endpoint=bucket.endpoint,
        region=bucket.region,
        access_key_id="k",
        secret_access_key="s",
        client_options={"allow_http": True},
    )
    assert [item["path"] for item in obstore.list(client).collect()] == ["board/files/ab/f1"]


async def test_a_bucket_that_is_not_there_is_named_to_no_caller(bucket: S3Access) -> None:
    blobs = S3Blobs(replace(bucket, bucket="another-bucket"))

    with pytest.raises(Unavailable) as caught:
        await put(blobs, "f1", b"x")
    assert "another-bucket" not in str(caught.value)


def test_the_secret_is_not_shown(bucket: S3Access) -> None:
    assert "secret" not in repr(replace(bucket, secret="secret-text"))
