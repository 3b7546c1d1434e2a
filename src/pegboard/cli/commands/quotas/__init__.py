"""`pegboard quotas`."""

from pegboard.cli.commands.quotas.group import quotas as quotas
