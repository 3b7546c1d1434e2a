"""What `config:` of a csv source may say."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class CsvConfig(BaseModel):
    """Where the files are."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    folder: Path = Field(description="The folder, relative to the board.")
    max_rows: int = Field(default=100, ge=1, description="Rows in one answer.")
