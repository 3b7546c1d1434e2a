"""The `healing` section of `board.yaml`: what becomes of a step of which no tool is there."""

from typing import TYPE_CHECKING, Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field

from pegboard.core.tool import Effect

if TYPE_CHECKING:
    from pegboard.features.health.failover import FailoverPolicy


class HealingEntry(BaseModel):
    """Whether a run takes a stand-in for tools that are gone."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    policy: Annotated[
        Literal["propose", "apply"],
        Field(
            description="`propose` names what could stand in, `apply` lets a run call it in the "
            "place of a step's tools when none of them is there."
        ),
    ] = "propose"
    tools: Annotated[
        tuple[str, ...], Field(description="Globs: which tools others may stand in for.")
    ] = ("*",)
    effects: Annotated[
        tuple[Literal["read", "write"], ...],
        Field(description="Effects of the tools that others may stand in for."),
    ] = ("read",)
    even_if: Annotated[
        tuple[Literal["switched_off", "disabled"], ...],
        Field(
            description="Others stand in even for a tool that a person has stopped in this way: "
            "by a kill switch for it or its source, or by its status. Never while all writes are "
            "off."
        ),
    ] = ()

    def to_policy(self) -> "FailoverPolicy":
        """As runs go by it."""
        from pegboard.features.health.failover import FailoverPolicy

        return FailoverPolicy(
            applies=self.policy == "apply",
            tools=self.tools,
            effects=frozenset(map(Effect, self.effects)),
            even_if=frozenset(self.even_if),
        )
