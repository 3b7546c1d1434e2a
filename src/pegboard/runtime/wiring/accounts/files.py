"""Files of people: where their contents are, and the service."""

from collections.abc import Callable
from contextlib import AsyncExitStack
from ipaddress import ip_address
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from pegboard.core.ports.accounts.blob_store import BlobStore
from pegboard.core.ports.audit_store import Prove
from pegboard.errors import ConfigError
from pegboard.registry import ToolRegistry
from pegboard.runtime.board_file.load import LoadedBoard
from pegboard.runtime.settings import Settings

if TYPE_CHECKING:
    from pegboard.features.files import Files
    from pegboard.storage import Storage

_FOLDER = "files"
_ENDPOINT = "PEGBOARD_S3_ENDPOINT"


def open_files(
    registry: ToolRegistry,
    storage: "Storage",
    settings: Settings,
    stack: AsyncExitStack,
    *,
    contents: BlobStore | None,
    loaded: Callable[[], LoadedBoard],
    prove: Prove,
) -> "Files":
    """The service of files.

    Args:
        registry: Its call environment emits events and gives the time.
        storage: Stores the rows.
        settings: The limits, where the board file has none.
        stack: Closes the contents.
        contents: Stores the contents; None where there is no place for them.
        loaded: The board file of now.
        prove: Writes each change to the audit trail before it takes effect, where required.
    """
    from pegboard.features.files import Files
    from pegboard.features.files.parts import FileParts

    if contents is not None:
        stack.push_async_callback(contents.close)
    return Files(
        FileParts(
            storage.files,
            contents,
            limits=lambda: loaded().board.files.to_limits(settings),
            environment=lambda: registry.environment,
            prove=prove,
        )
    )


def create_blobs(settings: Settings) -> BlobStore | None:
    """The contents of files: a bucket, a folder of the data directory, or a temporary one.

    Returns:
        None where servers share a database, and neither a bucket nor a directory is configured.

    Raises:
        ConfigError: A setting is wrong, or the extra `s3` is missing.
    """
    if settings.files:
        from pegboard.blobs.s3 import S3Access, S3Blobs

        bucket, _, prefix = settings.files.removeprefix("s3://").partition("/")
        secret = settings.s3_secret
        return S3Blobs(
            S3Access(
                bucket=bucket,
                prefix=prefix.strip("/"),
                endpoint=_check_endpoint(settings.s3_endpoint),
                region=settings.s3_region,
                key_id=settings.s3_key_id,
                secret="" if secret is None else secret.get_secret_value(),
            )
        )
    from pegboard.blobs.local import LocalBlobs

    if settings.data is None and settings.database is not None:
        return None
    return LocalBlobs(None if settings.data is None else settings.data / _FOLDER)


def _check_endpoint(url: str) -> str:
    """Return the address of a service; it may be any but that of the machine's credentials.

    Raises:
        ConfigError: It is none.
    """
    if not url:
        return ""
    parts = urlsplit(url)
    is_http = parts.scheme in {"http", "https"} and bool(parts.hostname)
    if not is_http or "@" in parts.netloc or parts.query or parts.fragment:
        raise ConfigError(f"{_ENDPOINT}: write an address without a user, as https://minio.example")
    try:
        address = ip_address(parts.hostname or "")
    except ValueError:
        return url.rstrip("/")
    if address.is_link_local or address.is_unspecified or address.is_multicast:
        raise ConfigError(f"{_ENDPOINT}: {address} is not the address of a service")
    return url.rstrip("/")
