"""The `pinning` section of `board.yaml`: accepted changes of upstream definitions."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

from pegboard.registry.pin_policy import NewPolicy, PinningPolicy

_STRICT = ConfigDict(frozen=True, extra="forbid")


class NewToolsEntry(BaseModel):
    """What happens to tools that a source adds after its first listing."""

    model_config = _STRICT

    default: Annotated[
        NewPolicy,
        Field(
            description="`accept` takes them as they are, `ask` holds each one until a person "
            "approves it."
        ),
    ] = "accept"
    sources: Annotated[
        dict[str, NewPolicy], Field(description="The same for one source, by its name.")
    ] = Field(default_factory=dict[str, NewPolicy])

    def of(self, source: str) -> NewPolicy:
        """The rule for a source."""
        return self.sources.get(source, self.default)


class PinningEntry(BaseModel):
    """What happens to definitions that an upstream changes after their approval."""

    model_config = _STRICT

    default: Annotated[
        PinningPolicy,
        Field(
            description="`auto` accepts every change, `additive` only backward-compatible "
            "changes without new text, `ask` holds each change until a person "
            "approves it, `block` rejects every change."
        ),
    ] = "additive"
    sources: Annotated[
        dict[str, PinningPolicy], Field(description="The same for one source, by its name.")
    ] = Field(default_factory=dict[str, PinningPolicy])
    new: Annotated[
        NewToolsEntry,
        Field(description="New tools of a source whose other tools are already known."),
    ] = NewToolsEntry()

    def of(self, source: str) -> PinningPolicy:
        """The rule for a source."""
        return self.sources.get(source, self.default)
