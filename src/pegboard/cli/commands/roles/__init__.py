"""`pegboard roles`."""

from pegboard.cli.commands.roles.group import roles as roles
