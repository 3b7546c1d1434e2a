"""Responses about skills."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

_ANSWER = ConfigDict(extra="forbid", frozen=True)


class SkillSummary(BaseModel):
    """A skill in a list."""

    model_config = _ANSWER

    tool: Annotated[str, Field(description="The tool that reads it; its id here.")]
    name: Annotated[str, Field(description="As its front matter gives it.")]
    source: str
    resource: Annotated[
        str, Field(description="Id of the resource of one that a person added; else empty.")
    ]
    description: Annotated[str, Field(description="What it is for, and when to use it.")]
    characters: Annotated[int, Field(description="Length of its text.")]
    allowed_tools: Annotated[
        list[str] | None,
        Field(
            description="Names and globs of the only tools that may be called while it is in "
            "force; null where it does not restrict them."
        ),
    ]
    unavailable: Annotated[
        str, Field(description="Why it cannot be used, with file and line; empty when it can.")
    ]


class SkillDetail(SkillSummary):
    """A skill with its text."""

    text: Annotated[str, Field(description="The instructions as Markdown, without front matter.")]
    files: Annotated[
        list[str], Field(description="Other files of its folder; its tool reads them by `path`.")
    ]


class SkillList(BaseModel):
    """The skills that you see, by source and name."""

    model_config = _ANSWER

    skills: list[SkillSummary]
