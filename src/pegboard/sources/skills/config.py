"""The `config:` section of a skills source."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class SkillsConfig(BaseModel):
    """Where the skills are.

    ```yaml
    {kind: skills, name: house, config: {paths: [skills]}}
    ```
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: Annotated[
        tuple[Path, ...],
        Field(
            min_length=1,
            description="Folders of skills, or folders that contain them, relative to the board's "
            "folder.",
        ),
    ]
