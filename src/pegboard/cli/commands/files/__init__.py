"""`pegboard files`."""

from pegboard.cli.commands.files.group import files as files
