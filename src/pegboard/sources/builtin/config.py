"""Configuration of the built-in tools."""

from pathlib import Path

from pydantic import BaseModel, ConfigDict, Field


class BuiltinConfig(BaseModel):
    """Selects the built-in tools and the workspace of the file tools."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    include: tuple[str, ...] = Field(
        default=(), description="Only these tools or categories; empty means all."
    )
    exclude: tuple[str, ...] = Field(default=(), description="Without these tools or categories.")
    workspace: Path | None = Field(
        default=None,
        description="The folder that file tools are confined to, unless a call names another; "
        "relative to the board; shared by all callers. Without one, each caller gets its own.",
    )
