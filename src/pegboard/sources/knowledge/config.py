"""The `config:` section of a knowledge source."""

from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field


class KnowledgeConfig(BaseModel):
    """The bases stand in `knowledge:`, or people add them; a registration names one.

    ```yaml
    knowledge: [{name: handbook, folder: handbook}]
    ```
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    base: Annotated[
        str,
        Field(max_length=64, description="The only base, asked by one tool; empty for all."),
    ] = ""
    tool: Annotated[
        Literal["kb_retrieve", "grounded_retrieve"], Field(description="How that one is asked.")
    ] = "kb_retrieve"


def trust_results(_config: object) -> bool:
    """Never: documents are written by others, and may contain orders to a model."""
    return False
