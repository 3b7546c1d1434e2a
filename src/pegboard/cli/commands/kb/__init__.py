"""`pegboard kb`."""

from pegboard.cli.commands.kb.group import kb as kb
