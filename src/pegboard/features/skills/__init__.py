"""Skills: what the instructions of an organisation say, for people who read them."""

from pegboard.features.skills.service import find_skill, list_skills

__all__ = ["find_skill", "list_skills"]
