"""`pegboard skills`."""

from pegboard.cli.commands.skills.group import skills as skills
