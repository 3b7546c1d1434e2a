"""Skills that people have stored, as texts by their paths; no folder of the server is read."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from pegboard.core.context import ToolContext
from pegboard.core.skill import Skill
from pegboard.core.tool import ToolSpec
from pegboard.core.wire_names import OWNER_MARK
from pegboard.errors import InvalidRequest, SourceUnavailable, ToolFailed
from pegboard.sources.skills.client import SKILL_FILE
from pegboard.sources.skills.skill_file import SkillFile, read_skill_file
from pegboard.sources.skills.tools import make_spec, write_text

MAX_FILES = 100
"""The most files of a stored skill, its `SKILL.md` included."""
MAX_BYTES = 256_000
"""The most bytes of all its files together, their paths included."""

MAX_PATTERNS = 200
"""The most names and patterns in its `allowed-tools`: each call is compared with them."""

_MAX_PATH = 200
_MAX_PATTERN = 100
_ACTION = "read"


class StoredSkill:
    """Reads one stored skill.

    Args:
        name: Of the stored skill, with the handle of its owner: the name of its source, and the
            one by which models know it.
        files: Its texts by their paths.
    """

    def __init__(self, name: str, files: Mapping[str, str]) -> None:
        skill = check_stored_skill(name, files).skill
        owner, mark, _ = name.partition(OWNER_MARK)
        self._files = {path: text for path, text in sorted(files.items()) if path != SKILL_FILE}
        self.skill = replace(
            skill,
            name=name,
            allowed_tools=_allow_tools_of(owner if mark else "", skill),
            files=tuple(self._files),
        )
        # an author is somebody; whose words are the caller's own is asked with each call
        self._spec = make_spec(name, _ACTION).replace(
            description=skill.description, title=name, trusted=False
        )

    @property
    def spec(self) -> ToolSpec:
        """What it is."""
        return self._spec

    async def run(self, arguments: Mapping[str, Any], ctx: ToolContext[Any]) -> str:
        """The text of the skill with the paths of its files, or the text of one of them.

        Raises:
            ToolFailed: The skill has no such file.
        """
        del ctx
        path = str(arguments.get("path") or "")
        if not path:
            return write_text(self.skill.text, self.skill.files)
        text = self._files.get(path)
        if text is None:
            raise ToolFailed(f"The skill has no file '{path[:200]}'.")
        return text


def check_stored_skill(name: str, files: Mapping[str, str]) -> SkillFile:
    """Check the files of a skill that a person stores.

    Args:
        name: Of the stored skill; behind the handle of its owner it is that of the skill.
        files: Its texts by their paths.

    Raises:
        InvalidRequest: They are too many, too large, have paths that lead elsewhere, or the
            `SKILL.md` is none.
    """
    if len(files) > MAX_FILES:
        raise InvalidRequest(f"A skill has at most {MAX_FILES} files, not {len(files):,}.")
    _check_size(files)
    for path in files:
        _check_path(path)
    _check_no_file_is_a_folder(files)
    if SKILL_FILE not in files:
        raise InvalidRequest(f"A skill has a {SKILL_FILE}.")
    try:
        folder = name.rpartition(OWNER_MARK)[2]
        found = read_skill_file(files[SKILL_FILE], SKILL_FILE, folder=folder)
    except SourceUnavailable as error:
        raise InvalidRequest(error.message) from error
    patterns = found.skill.allowed_tools or ()
    if len(patterns) > MAX_PATTERNS or any(len(item) > _MAX_PATTERN for item in patterns):
        raise InvalidRequest(
            f"allowed-tools has at most {MAX_PATTERNS} names and patterns of {_MAX_PATTERN} "
            "characters."
        )
    return found


def _check_size(files: Mapping[str, str]) -> None:
    try:
        size = sum(len(path.encode()) + len(text.encode()) for path, text in files.items())
    except UnicodeEncodeError as error:
        raise InvalidRequest("A file of the skill is no text in UTF-8.") from error
    if size > MAX_BYTES:
        raise InvalidRequest(
            f"The files of a skill have at most {MAX_BYTES:,} bytes together, not {size:,}."
        )


def _check_path(path: str) -> None:
    inner = PurePosixPath(path)
    is_plain = path.isprintable() and "\\" not in path and ":" not in path
    if (
        not is_plain
        or len(path) > _MAX_PATH
        or inner.is_absolute()
        or str(inner) != path
        or any(part.startswith(".") for part in inner.parts)
        or not inner.parts
    ):
        raise InvalidRequest(
            f"'{path[:100]!s}' cannot be the path of a file in a skill: write names separated by "
            f"'/', at most {_MAX_PATH} characters, none of them beginning with '.'."
        )


def _check_no_file_is_a_folder(files: Mapping[str, str]) -> None:
    for path in files:
        for parent in PurePosixPath(path).parents:
            if str(parent) in files:
                raise InvalidRequest(f"'{parent}' is a file and a folder of the skill.")


def _allow_tools_of(owner: str, skill: Skill) -> tuple[str, ...] | None:
    """The patterns of `allowed-tools`, with those of the owner's tools by their short names.

    `shop__refund` of Ada's skill allows `shop__refund` of the operator and `ada--shop__refund`, and
    no tool of another person.
    """
    given = skill.allowed_tools
    if given is None or not owner:
        return given
    own = [
        f"{owner}{OWNER_MARK}{pattern}"
        for pattern in given
        if "__" in pattern and OWNER_MARK not in pattern and not pattern.startswith(("*", "["))
    ]
    return tuple(dict.fromkeys((*given, *own)))
