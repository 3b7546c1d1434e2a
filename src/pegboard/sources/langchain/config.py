"""The `config:` section of a langchain source."""

from collections.abc import Mapping
from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.tool import Effect


class LangChainConfig(BaseModel):
    """Where the tools are, and what LangChain does not declare.

    ```yaml
    {kind: langchain, name: research, config: {objects: ["my_tools:search"]}}
    ```
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    objects: Annotated[
        tuple[str, ...],
        Field(
            min_length=1,
            description="`package.module:name`: a tool, a list of tools, a toolkit, or a function "
            "without arguments that gives one of these.",
        ),
    ]
    effects: Annotated[
        Mapping[str, Effect],
        Field(
            description="What tools do to the world, by their LangChain names; `write` for those "
            "that neither this nor their `metadata` names."
        ),
    ] = {}
