"""The `config:` section of a knowledge source."""

from pydantic import BaseModel, ConfigDict


class KnowledgeConfig(BaseModel):
    """Nothing: the bases stand in `knowledge:`, or people add them.

    ```yaml
    knowledge: [{name: handbook, folder: handbook}]
    ```
    """

    model_config = ConfigDict(frozen=True, extra="forbid")
