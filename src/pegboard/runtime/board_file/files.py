"""The `files` section of `board.yaml`: how much people may store."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.ports.accounts.file_store import FileLimits, FileQuota
from pegboard.runtime.file_settings import FileSettings


class FilesEntry(BaseModel):
    """How much people may store, in place of the settings of the server."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    max_file_bytes: Annotated[int | None, Field(gt=0, description="The largest file.")] = None
    max_owned_bytes: Annotated[
        int | None,
        Field(ge=0, description="Bytes of files that one person may store; 0 for no limit."),
    ] = None
    max_owned_files: Annotated[
        int | None, Field(ge=0, description="Files that one person may store; 0 for no limit.")
    ] = None

    def to_limits(self, settings: FileSettings) -> FileLimits:
        """The limits of a board; what the file leaves out is that of the settings."""

        def choose(own: int | None, default: int) -> int:
            return default if own is None else own

        return FileLimits(
            quota=FileQuota(
                bytes=choose(self.max_owned_bytes, settings.max_owned_bytes),
                files=choose(self.max_owned_files, settings.max_owned_files),
            ),
            file_bytes=choose(self.max_file_bytes, settings.max_file_bytes),
            part_bytes=settings.max_part_bytes,
        )
