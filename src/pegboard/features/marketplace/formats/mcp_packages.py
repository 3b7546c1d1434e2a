"""The command lines that start packages of an MCP registry's entry.

After `Package` of the registry's OpenAPI document (modelcontextprotocol/registry,
`docs/reference/api/openapi.yaml`, version 2025-12-01): `registryType`, `identifier`, `version`,
`runtimeHint`, `runtimeArguments`, `packageArguments`, `environmentVariables`, `transport`.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pegboard.features.marketplace.entries import InstallOption, UnusableEntry
from pegboard.features.marketplace.formats.inputs import Inputs
from pegboard.features.marketplace.formats.sanitize import Node, items, line, node

OLD = "it uses the registry format from before September 2025"

_VERSION = re.compile(r"[A-Za-z0-9][A-Za-z0-9.+_-]{0,100}")
_PLAIN = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,200}")
_NPM = re.compile(r"(?:@[A-Za-z0-9~-][A-Za-z0-9._~-]*/)?[A-Za-z0-9~][A-Za-z0-9._~-]*")
_IMAGE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._/:@-]{0,300}")
_ENV = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,100}")
_FLAG = re.compile(r"[A-Za-z0-9-][A-Za-z0-9._-]{0,100}")
_MAX_ARGUMENTS = 100


@dataclass(frozen=True, slots=True, kw_only=True)
class _Runner:
    """The program that runs packages of one registry.

    Attributes:
        command: The program.
        before: Arguments before the package.
        between: Separator of a package and its version.
        identifier: Pattern of package names.
        after: Arguments after the package.
    """

    command: str
    between: str
    identifier: re.Pattern[str]
    before: tuple[str, ...] = ()
    after: tuple[str, ...] = ()


_RUNNERS: Mapping[str, _Runner] = {
    "npm": _Runner(command="npx", before=("-y",), between="@", identifier=_NPM),
    "pypi": _Runner(command="uvx", between="@", identifier=_PLAIN),
    "oci": _Runner(command="docker", before=("run", "-i", "--rm"), between=":", identifier=_IMAGE),
    "nuget": _Runner(command="dnx", between="@", identifier=_PLAIN, after=("--yes", "--")),
}


def package_way(said: Node, *, name: str, short: str) -> InstallOption:
    """Return the install option of a package; its problem says why it cannot be started."""
    try:
        return _way(said, name, short)
    except UnusableEntry as error:
        return InstallOption(name=name, source_kind="mcp", runs_here=True, problem=f"{error}.")


def _way(said: Node, name: str, short: str) -> InstallOption:
    if "registry_type" in said:
        raise UnusableEntry(OLD)
    registry = line(said.get("registryType"), most=40)
    runner = _RUNNERS.get(registry)
    if runner is None:
        known = ", ".join(_RUNNERS)
        raise UnusableEntry(f"packages of '{registry}' are not supported, only those of {known}")
    transport = line(node(said.get("transport")).get("type"), most=40) or "stdio"
    if transport != "stdio":
        raise UnusableEntry(
            f"its package uses the transport '{transport}'; only stdio is supported"
        )
    package, version = _package(said, runner)
    inputs = Inputs(short)
    env = _env(said, inputs)
    runtime = list(_arguments(said.get("runtimeArguments"), inputs))
    own = list(_arguments(said.get("packageArguments"), inputs))
    passed = [item for key in env for item in ("-e", key)] if registry == "oci" else []
    before = [item for item in runner.before if item not in runtime]
    args = [*before, *passed, *runtime, package, *(runner.after if own else runner.after[:1]), *own]
    config: dict[str, Any] = {"command": runner.command, "args": args}
    if env:
        config["env"] = env
    return InstallOption(
        name=name,
        source_kind="mcp",
        config=config,
        runs_here=True,
        command=(runner.command, *args),
        needs=inputs.needs,
        warnings=tuple(_warnings(said, runner, runtime=runtime, version=version)),
    )


def _package(said: Node, runner: _Runner) -> tuple[str, str]:
    identifier, version = said.get("identifier"), said.get("version") or ""
    if not isinstance(identifier, str) or not runner.identifier.fullmatch(identifier):
        raise UnusableEntry("its package has an invalid name")
    if not isinstance(version, str) or (version and not _VERSION.fullmatch(version)):
        raise UnusableEntry("its package has an invalid version")
    has_version = not version or (runner.between == ":" and _has_tag(identifier))
    return (identifier if has_version else f"{identifier}{runner.between}{version}"), version


def _has_tag(image: str) -> bool:
    return "@" in image or ":" in image.rpartition("/")[2]


def _env(said: Node, inputs: Inputs) -> dict[str, str]:
    env: dict[str, str] = {}
    for item in map(node, items(said.get("environmentVariables"))[:_MAX_ARGUMENTS]):
        name = item.get("name")
        if not isinstance(name, str) or not _ENV.fullmatch(name):
            raise UnusableEntry("one of its variables has an invalid name")
        value = inputs.value(item, name=name, place="variable")
        if value is not None:
            env[name] = value
    return env


def _arguments(said: object, inputs: Inputs) -> Iterator[str]:
    """A named argument is `--flag=value`, or the flag alone; a positional one its value."""
    given = items(said)
    if len(given) > _MAX_ARGUMENTS:
        raise UnusableEntry(f"it has more than {_MAX_ARGUMENTS} arguments")
    for item in map(node, given):
        flag = item.get("name") if item.get("type") == "named" else None
        if flag is None:
            hint = line(item.get("valueHint"), most=100) or "argument"
            value = inputs.value(item, name=hint, place="argument")
            if value is not None:
                yield value
            continue
        if not isinstance(flag, str) or not _FLAG.fullmatch(flag):
            raise UnusableEntry("one of its arguments has an invalid name")
        is_bare = not item.keys() & {"value", "default"} and item.get("isRequired") is not True
        value = "" if is_bare else inputs.value(item, name=flag.strip("-"), place="argument")
        if value is not None:
            yield f"{flag}={value}" if value else flag


def _warnings(said: Node, runner: _Runner, *, runtime: list[str], version: str) -> Iterator[str]:
    yield (
        f"It runs a third-party program on this machine with '{runner.command}', under your "
        "account; a review does not start it, so its tools are unknown."
    )
    if not version:
        yield "It pins no version of its package: what is started may change at any time."
    if runtime:
        yield f"It passes arguments to '{runner.command}' itself: {line(' '.join(runtime))}"
    hint = line(said.get("runtimeHint"), most=40)
    if hint and hint != runner.command:
        yield f"Its publisher starts it with '{hint}'; here it is started with '{runner.command}'."
    base = line(said.get("registryBaseUrl"))
    if base:
        yield (
            f"Its package is declared to come from {base}; '{runner.command}' uses the registry "
            "that you have configured."
        )
