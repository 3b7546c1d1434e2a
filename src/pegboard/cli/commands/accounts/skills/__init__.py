"""`pegboard skills`."""

from pegboard.cli.commands.accounts.skills.group import skills as skills
