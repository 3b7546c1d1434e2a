"""A command group that loads its commands lazily."""

from collections import UserDict
from collections.abc import Mapping, Sequence
from contextvars import ContextVar
from copy import copy
from importlib import import_module
from typing import Any, ClassVar

import typer
from typer.core import TyperCommand, TyperGroup, TyperOption
from typer.main import get_group

from pegboard.cli.exit_codes import WANTS_JSON

RUNNING: ContextVar[str] = ContextVar("running", default="")
"""The command that runs, as `pegboard runs list`; empty outside one."""


class LightGroup(TyperGroup):
    """A group that finds its commands without importing pydantic."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        """Find the command that the arguments name; the error for an unknown one lists them."""
        is_subcommand = ctx.parent is not None and not ctx.resilient_parsing
        if is_subcommand and args[0].isidentifier() and self.get_command(ctx, args[0]) is None:
            ctx.fail(_describe_unknown(args[0], self.list_commands(ctx)))
        name, command, rest = super().resolve_command(ctx, args)
        WANTS_JSON.set(False)
        RUNNING.set(f"{RUNNING.get() if ctx.parent else 'pegboard'} {name}")
        return name, command, rest

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Read the options before the command.

        typer would import pydantic for the unset flags that it adds itself; `False` means the same.
        """
        for option in self.get_params(ctx):
            if isinstance(option, TyperOption) and option.is_bool_flag and option.default is None:
                option.default = False
        return super().parse_args(ctx, args)


def _describe_unknown(name: str, known: Sequence[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, known, n=1)
    hint = f" Did you mean '{near[0]}'?" if near else ""
    return f"No such command '{name}'.{hint} The commands are: {', '.join(known)}."


class LazyGroup(LightGroup):
    """A group whose commands are in modules of the same name.

    A subclass lists them. Help, completion and "did you mean" use the listed names and texts, so
    that `pegboard --help` imports no command.

    Attributes:
        package: The package of the modules.
        sections: The commands below the headings of the help, each with the first paragraph of its
            help.
        folders: The subpackages of sections that have one, by heading.
        listed: All of them.
    """

    package: ClassVar[str]
    sections: ClassVar[Mapping[str, Mapping[str, str]]]
    folders: ClassVar[Mapping[str, str]] = {}
    listed: ClassVar[Mapping[str, str]]

    def __init_subclass__(cls) -> None:
        cls.listed = {name: text for part in cls.sections.values() for name, text in part.items()}

    def __init__(self, **attrs: Any) -> None:
        super().__init__(**attrs)
        self.commands = _CommandTable(
            {
                name: ".".join(filter(None, (self.package, self.folders.get(heading), name)))
                for heading, commands in self.sections.items()
                for name in commands
            }
        )
        signs = [
            TyperCommand(name, help=text, rich_markup_mode=None)
            for name, text in self.listed.items()
        ]
        self._signs = TyperGroup(name=self.name, commands=signs, params=self.params)

    def invoke(self, ctx: Any) -> Any:
        """Run the command; pydantic's prefix of a reason is left out of usage errors."""
        try:
            return super().invoke(ctx)
        except typer.BadParameter as error:
            reason = error.message.removeprefix("Value error, ")
            if reason == error.message:
                raise
            raise typer.BadParameter(reason, ctx=error.ctx, param=error.param) from error

    def format_commands(self, ctx: Any, formatter: Any) -> None:  # noqa: ARG002 - of typer
        """Write the part of the help that lists the commands."""
        width = max(map(len, self.listed))
        for heading, commands in self.sections.items():
            with formatter.section(heading):
                formatter.write_dl([(name.ljust(width), text) for name, text in commands.items()])

    def shell_complete(self, ctx: Any, incomplete: str) -> list[Any]:
        """The commands and options that begin so."""
        without_loading = copy(ctx)
        without_loading.command = self._signs
        return self._signs.shell_complete(without_loading, incomplete)


class _CommandTable(UserDict[str, Any]):
    """The commands by name, each loaded at its first access."""

    def __init__(self, modules: Mapping[str, str]) -> None:
        super().__init__(dict.fromkeys(modules))
        self._modules = modules

    def __getitem__(self, name: str) -> Any:
        if self.data[name] is None:
            self.data[name] = _load(self._modules[name], name)
        return self.data[name]


def _load(path: str, name: str) -> Any:
    """Load the command of a module: a function, or an app with subcommands.

    `CONTEXT` of the module has settings of the command's context.
    """
    module = import_module(path)
    found = getattr(module, name)
    holder = typer.Typer(pretty_exceptions_enable=False, rich_markup_mode=None)
    if isinstance(found, typer.Typer):
        holder.add_typer(found, name=name, cls=LightGroup)
    else:
        holder.command(name, context_settings=getattr(module, "CONTEXT", None))(found)
    return get_group(holder).commands[name]
