"""Contents of files in a bucket."""

from contextlib import nullcontext
from dataclasses import replace

import obstore
import pytest
from obstore.store import S3Store
from pydantic import SecretStr
from tests.blobs.test_contract import in_chunks, put

from pegboard.blobs.s3 import S3Access, S3Blobs
from pegboard.core.principal import LOCAL
from pegboard.errors import Unavailable
from pegboard.features.files import NewUpload
from pegboard.runtime import Pegboard, Settings

pytestmark = pytest.mark.timeout(60)


def list_objects(bucket: S3Access) -> list[str]:
    client = S3Store(
        bucket.bucket,
        endpoint=bucket.endpoint,
        region=bucket.region,
        access_key_id="k",
        secret_access_key="s",
        client_options={"allow_http": True},
    )
    return [item["path"] for item in obstore.list(client).collect()]


async def test_objects_stand_below_the_prefix(bucket: S3Access) -> None:
    await put(S3Blobs(bucket), "ab/f1", b"x")

    assert list_objects(bucket) == ["board/files/ab/f1"]


async def test_a_bucket_that_is_not_there_is_named_to_no_caller(bucket: S3Access) -> None:
    blobs = S3Blobs(replace(bucket, bucket="another-bucket"))

    with pytest.raises(Unavailable) as caught:
        await put(blobs, "f1", b"x")
    assert "another-bucket" not in str(caught.value)


async def test_a_board_stores_its_files_in_a_bucket(bucket: S3Access) -> None:
    settings = Settings(
        files=f"s3://{bucket.bucket}/board",
        s3_endpoint=bucket.endpoint,
        s3_region=bucket.region,
        s3_key_id="k",
        s3_secret=SecretStr("s"),
    )
    async with Pegboard(settings=settings) as board:
        upload = await board.files.uploads.begin(NewUpload(name="a.txt", size=8), principal=LOCAL)
        for part in (b"what", b"ever"):
            upload = await board.files.uploads.append(
                upload.id, in_chunks(part), offset=upload.offset, principal=LOCAL
            )
        file = await board.files.uploads.finish(upload.id, principal=LOCAL)
        content = [chunk async for chunk in board.files.read(file, start=2, length=4)]
        objects = list_objects(bucket)
        await board.files.delete(file.id, principal=LOCAL)

    assert b"".join(content) == b"atev"
    assert objects == [f"board/{file.blob}"]
    assert list_objects(bucket) == []


async def test_a_bucket_that_cannot_be_used_is_found_by_a_check(bucket: S3Access) -> None:
    for name, refused in ((bucket.bucket, False), ("another-bucket", True)):
        settings = Settings(
            files=f"s3://{name}",
            s3_endpoint=bucket.endpoint,
            s3_region=bucket.region,
            s3_key_id="k",
            s3_secret=SecretStr("s"),
        )
        async with Pegboard(settings=settings) as board:
            with pytest.raises(Unavailable) if refused else nullcontext():
                await board.files.check_place()


def test_the_secret_is_not_shown(bucket: S3Access) -> None:
    assert "secret" not in repr(replace(bucket, secret="secret-text"))
