"""The `config:` section of a functions source."""

from pathlib import Path
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field


class FunctionsConfig(BaseModel):
    """Where the functions are; at least one of the three.

    ```yaml
    {kind: functions, name: shop, config: {modules: [shop_tools]}}
    ```
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    modules: Annotated[
        tuple[str, ...],
        Field(description="Importable modules; the board's folder is searched first."),
    ] = ()
    files: Annotated[
        tuple[Path, ...], Field(description="Python files, relative to the board's folder.")
    ] = ()
    objects: Annotated[
        tuple[str, ...],
        Field(description="`package.module:name`: a function, an instance's method, or a tool."),
    ] = ()
    undecorated: Annotated[
        bool,
        Field(
            description="Also take public functions of modules and files that have no `@tool`. "
            "What they do is unknown, so they count as writing."
        ),
    ] = False
