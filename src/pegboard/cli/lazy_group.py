"""A group of commands that are listed without being loaded, and loaded once they are wanted."""

from collections import UserDict
from collections.abc import Mapping
from copy import copy
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_group


class LightGroup(TyperGroup):
    """A group that finds its commands without importing pydantic."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command.

        The switches that typer adds are unset where they are not given; for that alone it would
        import pydantic. Off means the same to them.
        """
        for option in self.get_params(ctx):
            if isinstance(option, TyperOption) and option.is_bool_flag and option.default is None:
                option.default = False
        return super().parse_args(ctx, args)


class LazyGroup(LightGroup):
    """Commands that stand in modules of their own, each called like its module.

    A subclass says which. Help, completion and "did you mean" take the names and the help from
    there, so that `pegboard --help` imports none of them; whatever else asks for a command gets
    the real one.

    Attributes:
        package: Where the modules are.
        listed: The commands in the order of the help, each with the first paragraph of its own.
    """

    package: ClassVar[str]
    listed: ClassVar[Mapping[str, str]]

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands = _Loaded(self.package, self.listed)
        signs = [
            TyperCommand(name, help=text, rich_markup_mode=None)
            for name, text in self.listed.items()
        ]
        self._signs = TyperGroup(name=self.name, commands=signs, params=self.params)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the part of the help that lists the commands."""
        self._signs.format_commands(ctx, formatter)

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """The commands and options that begin so."""
        without_loading = copy(ctx)
        without_loading.command = self._signs
        return self._signs.shell_complete(without_loading, incomplete)


class _Loaded(UserDict[str, Any]):
    """The commands by name; what has not been asked for yet is `None` inside."""

    def __init__(self, package: str, names: Mapping[str, str]) -> None:
        super().__init__(dict.fromkeys(names))
        self._package = package

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = _load(self._package, name)
        return self.data[name]


def _load(package: str, name: str) -> Any:
    """The command of a module: a function, or an app with commands of its own."""
    found = getattr(import_module(f"{package}.{name}"), name)
    holder = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name, cls=LightGroup)
    else:
        holder.command(name)(found)
    return get_group(holder).commands[name]
