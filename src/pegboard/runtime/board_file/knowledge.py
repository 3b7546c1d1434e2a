"""The `knowledge:` section of a board file."""

import re
from collections.abc import Sequence
from typing import Annotated, Literal, Self

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, model_validator

from pegboard.core.wire_names import OWNER_MARK, is_source_name

_STRICT = ConfigDict(frozen=True, extra="forbid")
_TIME = re.compile(r"(\d+(?:\.\d+)?)\s*([smhd])")
_SECONDS = {"s": 1.0, "m": 60.0, "h": 3600.0, "d": 86400.0}
_LEAST = 60.0


def _check_name(name: str) -> str:
    if OWNER_MARK in name or not is_source_name(name):
        raise ValueError("write at most 30 letters, digits, single '_' and '-'")
    return name


def read_time(value: object) -> object:
    """Seconds of a time as `90s`, `30m`, `1h` or `1d`."""
    if not isinstance(value, str) or (found := _TIME.fullmatch(value.strip())) is None:
        raise ValueError("write a time as '30m', '1h' or '1d'")
    seconds = float(found[1]) * _SECONDS[found[2]]
    if seconds < _LEAST:
        raise ValueError("write a time of one minute or more")
    return seconds


class KnowledgeEntry(BaseModel):
    """A knowledge base of the operator, which everybody may ask."""

    model_config = _STRICT

    name: Annotated[str, AfterValidator(_check_name), Field(description="Its name for tools.")]
    title: Annotated[str, Field(max_length=200, description="For people.")] = ""
    description: Annotated[
        str, Field(max_length=2000, description="What can be asked of it; models read this.")
    ] = ""
    folder: Annotated[
        str, Field(max_length=1000, description="A folder of documents, from the board's folder.")
    ] = ""
    url: Annotated[
        str,
        Field(
            max_length=2000,
            pattern=r"^(https?://.*)?$",
            description="An http(s) address instead: the page, and those below it.",
        ),
    ] = ""
    pages: Annotated[int, Field(ge=1, le=500, description="Pages of an address, at most.")] = 50
    refresh: Annotated[
        float | None,
        BeforeValidator(read_time),
        Field(
            description="How often to take in what has changed: `30m`, `1h`; by default only when "
            "somebody asks for it.",
            json_schema_extra={"type": "string"},
        ),
    ] = None
    cut: Annotated[
        Literal["recursive", "heading", "fixed", "semantic"],
        Field(description="How documents are cut into pieces."),
    ] = "recursive"
    tokens: Annotated[
        int, Field(ge=40, le=2000, description="Size of a piece, in tokens, at most.")
    ] = 220

    embedder: Annotated[
        str | None,
        Field(
            max_length=200,
            description="Its embedding model, of `models.named`; by default the board's, empty to "
            "work by words only.",
        ),
    ] = None

    @model_validator(mode="after")
    def _has_one_source(self) -> Self:
        if bool(self.folder) == bool(self.url):
            raise ValueError("give a 'folder' or a 'url'")
        return self


def _check_unique(entries: Sequence[KnowledgeEntry]) -> Sequence[KnowledgeEntry]:
    names = [entry.name for entry in entries]
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"each base has a name of its own; more than one is {twice[0]!r}")
    return entries


KnowledgeEntries = Annotated[tuple[KnowledgeEntry, ...], AfterValidator(_check_unique)]
