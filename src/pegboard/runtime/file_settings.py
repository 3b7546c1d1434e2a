"""The settings of files: where they are stored, and how large they may be."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

_GB = 1_000_000_000


class FileSettings(BaseModel):
    """Where files that people upload are stored, and how much one may store."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    files: Annotated[
        str,
        Field(
            description="Where files are stored: `s3://bucket/prefix` of an S3-compatible service, "
            "for servers that share a database; by default the data directory, or a temporary "
            "folder without one."
        ),
    ] = ""
    s3_endpoint: Annotated[
        str,
        Field(
            description="The address of the S3-compatible service, as `https://minio.example`; by "
            "default that of AWS."
        ),
    ] = ""
    s3_region: Annotated[
        str, Field(description="The region of the bucket; by default `AWS_REGION`.")
    ] = ""
    s3_key_id: Annotated[
        str,
        Field(
            description="The id of the access key; by default the credentials of the environment "
            "or of the machine, as AWS's own tools find them."
        ),
    ] = ""
    s3_secret: Annotated[SecretStr | None, Field(description="The secret of that access key.")] = (
        None
    )
    max_file_bytes: Annotated[
        int, Field(gt=0, description="The largest file that can be uploaded.")
    ] = 2 * _GB
    max_part_bytes: Annotated[
        int,
        Field(
            gt=0,
            description="The largest part of an upload; `PEGBOARD_MAX_REQUEST_BYTES` does not "
            "apply to parts.",
        ),
    ] = 64_000_000
    max_owned_bytes: Annotated[
        int,
        Field(
            ge=0,
            description="Bytes of files that one person may store, uploads included; 0 for no "
            "limit.",
        ),
    ] = 10 * _GB
    max_owned_files: Annotated[
        int, Field(ge=0, description="Files that one person may store; 0 for no limit.")
    ] = 10_000

    @field_validator("files")
    @classmethod
    def _names_a_bucket(cls, value: str) -> str:
        bucket = value.removeprefix("s3://").partition("/")[0]
        if value and (not value.startswith("s3://") or not bucket):
            raise ValueError("write the name of a bucket, as s3://bucket/prefix")
        return value.rstrip("/")
