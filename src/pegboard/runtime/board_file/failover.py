"""The `healing` section of `board.yaml`: what a run does when no tool of a step is available."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.tool import Effect

if TYPE_CHECKING:
    from pegboard.features.health.failover import FailoverPolicy


class HealingEntry(BaseModel):
    """Whether a run may substitute missing tools."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    policy: Annotated[
        Literal["propose", "apply"],
        Field(
            description="`propose` names possible substitutes; `apply` lets a run call one "
            "when none of a step's tools is available."
        ),
    ] = "propose"
    tools: Annotated[
        tuple[str, ...], Field(description="Globs over the tools that may be substituted.")
    ] = ("*",)
    effects: Annotated[
        tuple[Literal["read", "write"], ...],
        Field(description="Effects of the tools that may be substituted."),
    ] = ("read",)
    even_if: Annotated[
        tuple[Literal["switched_off", "disabled"], ...],
        Field(
            description="Substitutes even a tool that a person has stopped: by a kill switch "
            "for it or its source (`switched_off`), or by its status (`disabled`). "
            "Never while all writes are off."
        ),
    ] = ()

    def to_policy(self) -> "FailoverPolicy":
        """As the policy that runs apply."""
        from pegboard.features.health.failover import FailoverPolicy

        return FailoverPolicy(
            applies=self.policy == "apply",
            tools=self.tools,
            effects=frozenset(map(Effect, self.effects)),
            even_if=frozenset(self.even_if),
        )
