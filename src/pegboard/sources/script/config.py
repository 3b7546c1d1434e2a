"""The `config:` section of a script source."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

SandboxUse = Literal["required", "auto", "none"]


class ScriptConfig(BaseModel):
    """Where the scripts are, and the most that they may get.

    ```yaml
    {kind: script, name: ops, config: {paths: [scripts]}}
    ```
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    paths: Annotated[
        tuple[Annotated[str, Field(pattern=r"^[^\x00]*$")], ...],
        Field(
            min_length=1,
            description="Files, folders and globs, relative to the board's folder. A folder means "
            "the scripts right inside it.",
        ),
    ]
    descriptions: Annotated[
        Mapping[str, Mapping[str, Any]],
        Field(
            description="For scripts that cannot be described where they are: by path as in "
            "`paths`, the keys of a `.tool.yaml`."
        ),
    ] = {}
    sandbox: Annotated[
        SandboxUse,
        Field(
            description="`required`: a script runs apart or not at all. `auto`: apart where that "
            "works, else as a plain process of this user. `none`: always as a plain process."
        ),
    ] = "required"
    network: Annotated[
        bool, Field(description="Whether scripts that ask for the network get it.")
    ] = False
    readable: Annotated[
        tuple[Path, ...],
        Field(description="Files and folders that scripts may ask to read, beside themselves."),
    ] = ()
    writable: Annotated[
        tuple[Path, ...], Field(description="Folders that scripts may ask to write.")
    ] = ()
    environment: Annotated[
        tuple[str, ...],
        Field(description="Names of environment variables that scripts may ask for."),
    ] = ()
    directory: Annotated[
        Path | None,
        Field(description="Where scripts start; by default a private folder for each call."),
    ] = None
    timeout: Annotated[
        float, Field(gt=0, le=86_400, description="Seconds for one call, unless a script says.")
    ] = 30.0
    cpu_seconds: Annotated[
        float | None, Field(gt=0, description="Processor time; by default as much as the timeout.")
    ] = None
    memory_mb: Annotated[int, Field(ge=16, le=1_048_576, description="Memory of each process.")] = (
        1024
    )
    processes: Annotated[
        int, Field(ge=1, le=10_000, description="Processes and threads at once, in the sandbox.")
    ] = 64
    file_mb: Annotated[
        int, Field(ge=1, le=1_048_576, description="The largest file that a script may write.")
    ] = 64
    output_bytes: Annotated[
        int, Field(ge=1024, le=2**28, description="Of stdout and of stderr each.")
    ] = 1_000_000
    environment_timeout: Annotated[
        float,
        Field(
            gt=0,
            le=3600,
            description="Seconds to install the dependencies that a Python script names.",
        ),
    ] = 300.0
