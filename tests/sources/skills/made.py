"""Skills in a temporary folder, and sources of them."""

from pathlib import Path

from pegboard.core.ports.services import Services
from pegboard.sources.skills.config import SkillsConfig
from pegboard.sources.skills.source import SkillsSource


def write_skill(folder: Path, text: str = "", *, front: str = "description: Does it.") -> Path:
    """Write a skill with this text and front matter."""
    folder.mkdir(parents=True)
    (folder / "SKILL.md").write_text(f"---\nname: {folder.name}\n{front}\n---\n{text}\n")
    return folder


def open_in(folder: Path, *paths: str) -> SkillsSource:
    """A source of the skills under some paths."""
    config = SkillsConfig(paths=tuple(map(Path, paths)))
    return SkillsSource("house", config, Services(base_dir=folder))
