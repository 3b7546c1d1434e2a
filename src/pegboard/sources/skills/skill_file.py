"""`SKILL.md`: its front matter and its text, as the agentskills format has them."""

import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, cast

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from pegboard.core.skill import Skill
from pegboard.errors import ConfigError, SourceUnavailable
from pegboard.tools.yaml_positions import YamlDocument, read_yaml

_FENCE = re.compile(r"\A---[ \t]*\n(.*?)^---[ \t]*$\n?", re.DOTALL | re.MULTILINE)
_NAME = re.compile(r"(?!-)(?!.*--)[\w-]{1,64}(?<!-)")
_MAX_NODES = 1_000


class FrontMatter(BaseModel):
    """The front matter of a skill; https://agentskills.io/specification."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: Annotated[str, Field(max_length=64)]
    description: Annotated[str, Field(min_length=1, max_length=1024)]
    license: str = ""
    compatibility: Annotated[str, Field(max_length=500)] = ""
    metadata: dict[str, Any] = {}
    allowed_tools: Annotated[str | None, Field(alias="allowed-tools")] = None


@dataclass(frozen=True, slots=True, kw_only=True)
class SkillFile:
    """What a `SKILL.md` says.

    Attributes:
        problem: What of it cannot be followed; empty for nothing.
    """

    skill: Skill
    problem: str = ""


def read_skill_file(text: str, file: str, *, folder: str) -> SkillFile:
    """Read a `SKILL.md`.

    Args:
        text: Its text.
        file: What messages call it.
        folder: The name of its folder, which is that of the skill.

    Raises:
        SourceUnavailable: It is no skill; names the file, the line and the fault.
    """
    text = text.removeprefix("\ufeff").replace("\r\n", "\n")
    match = _FENCE.match(text)
    if match is None:
        raise SourceUnavailable(f"{file}:1: begin with the front matter between two lines of '---'")
    try:
        located = read_yaml(match[1], file, first_line=2, max_nodes=_MAX_NODES)
    except ConfigError as error:
        raise SourceUnavailable(error.message) from error
    matter = _check(located, folder)
    allowed, problem = _read_allowed(matter.allowed_tools, located)
    skill = Skill(
        name=matter.name,
        description=" ".join(matter.description.split()),
        text=text[match.end() :].strip(),
        allowed_tools=allowed,
    )
    return SkillFile(skill=skill, problem=problem)


def _check(located: YamlDocument, folder: str) -> FrontMatter:
    value: object = located.value
    if not isinstance(value, Mapping):
        raise SourceUnavailable(f"{located.at(())}: the front matter has 'name' and 'description'")
    try:
        matter = FrontMatter.model_validate(dict(cast("Mapping[str, Any]", value)))
    except ValidationError as error:
        fault = error.errors(include_url=False)[0]
        place = [str(step) for step in fault["loc"]]
        raise SourceUnavailable(
            f"{located.at(place)}: {'.'.join(place)}: {fault['msg']}"
        ) from error
    name = unicodedata.normalize("NFKC", matter.name)
    where = located.at(("name",))
    if _NAME.fullmatch(name) is None or name != name.lower() or "_" in name:
        raise SourceUnavailable(
            f"{where}: name: lower-case letters, digits and single hyphens, not '{name[:70]}'"
        )
    if name != unicodedata.normalize("NFKC", folder):
        raise SourceUnavailable(
            f"{where}: name: '{name}' is not the name of its folder, '{folder}'"
        )
    if not matter.description.strip():
        raise SourceUnavailable(f"{located.at(('description',))}: description: it is empty")
    return matter


def _read_allowed(given: str | None, located: YamlDocument) -> tuple[tuple[str, ...] | None, str]:
    """The patterns of `allowed-tools`, and what of them allows nothing."""
    if given is None:
        return None, ""
    items = re.findall(r"[^\s,(]+(?:\([^)]*\))?", given)
    odd = [item for item in items if "(" in item]
    problem = (
        f"{located.at(('allowed-tools',))}: '{odd[0]}' allows nothing: patterns for arguments are "
        "not supported, write the names of tools"
        if odd
        else ""
    )
    return tuple(item for item in items if "(" not in item), problem
