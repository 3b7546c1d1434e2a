"""The `pinning` section of `board.yaml`: what upstreams may change of their tools' definitions."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from pegboard.registry.pin_policy import NewPolicy, PinningPolicy

_STRICT = ConfigDict(frozen=True, extra="forbid")


class NewToolsEntry(BaseModel):
    """What becomes of tools that a source lists later than its first ones."""

    model_config = _STRICT

    default: Annotated[
        NewPolicy,
        Field(
            description="`accept` takes them as they are, `ask` takes none until somebody approves "
            "it."
        ),
    ] = "accept"
    sources: Annotated[
        dict[str, NewPolicy], Field(description="The same for one source, by its name.")
    ] = Field(default_factory=dict[str, NewPolicy])

    def of(self, source: str) -> NewPolicy:
        """What holds for a source."""
        return self.sources.get(source, self.default)


class PinningEntry(BaseModel):
    """What becomes of definitions that an upstream changes after they were approved."""

    model_config = _STRICT

    default: Annotated[
        PinningPolicy,
        Field(
            description="`auto` takes every change, `additive` what lets everything work as before "
            "and brings no words, `ask` none until somebody approves it, `block` none at all."
        ),
    ] = "additive"
    sources: Annotated[
        dict[str, PinningPolicy], Field(description="The same for one source, by its name.")
    ] = Field(default_factory=dict[str, PinningPolicy])
    new: Annotated[
        NewToolsEntry,
        Field(description="Tools that are new on a source of which others have been seen."),
    ] = NewToolsEntry()

    def of(self, source: str) -> PinningPolicy:
        """What holds for a source."""
        return self.sources.get(source, self.default)
