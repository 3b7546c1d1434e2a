"""Skills: folders with a `SKILL.md`, in the agentskills format."""

from pegboard.core.ports.source import SourceKind
from pegboard.sources.skills.config import SkillsConfig
from pegboard.sources.skills.source import open_skills

KIND = SourceKind(kind="skills", title="Skills", config=SkillsConfig, open=open_skills)

__all__ = ["KIND"]
