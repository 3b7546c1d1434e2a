"""Grants a script what it asks for, as far as the board's configuration allows."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from pegboard.core.ports.sandbox import SandboxLimits
from pegboard.errors import SourceUnavailable
from pegboard.sources.script.config import ScriptConfig
from pegboard.sources.script.description import Description

_MB = 1024 * 1024


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """The permissions of one script in each call.

    Attributes:
        environment: Variables with their values, which may be secret.
    """

    limits: SandboxLimits
    network: bool = False
    readable: tuple[Path, ...] = ()
    writable: tuple[Path, ...] = ()
    environment: Mapping[str, str] = field(default_factory=dict[str, str], repr=False)


def grant_permissions(
    description: Description,
    config: ScriptConfig,
    *,
    folder: Path,
    base_dir: Path,
    environ: Mapping[str, str],
) -> Grant:
    """Check what a script asks for, and grant it.

    Args:
        description: What it asks for; paths are relative to `folder`.
        config: What the board allows; paths are relative to `base_dir`.
        folder: The folder of the script.
        base_dir: The folder of the board.
        environ: The variables of the process.

    Raises:
        SourceUnavailable: It asks for more than is allowed; says what to write.
    """
    if description.network and not config.network:
        raise SourceUnavailable(
            "it asks for the network: write 'network: true' into the source's config"
        )
    return Grant(
        limits=_limits(description, config),
        network=description.network,
        readable=tuple(_paths("readable", description.readable, config, folder, base_dir)),
        writable=tuple(_paths("writable", description.writable, config, folder, base_dir)),
        environment=dict(_variables(description.environment, config.environment, environ)),
    )


def _limits(description: Description, config: ScriptConfig) -> SandboxLimits:
    timeout = description.timeout or config.timeout
    return SandboxLimits(
        timeout=timeout,
        cpu_seconds=description.cpu_seconds or config.cpu_seconds,
        memory_bytes=(description.memory_mb or config.memory_mb) * _MB,
        processes=description.processes or config.processes,
        file_bytes=config.file_mb * _MB,
        output_bytes=description.output_bytes or config.output_bytes,
    )


def _paths(
    key: str, asked: Sequence[Path], config: ScriptConfig, folder: Path, base_dir: Path
) -> Iterator[Path]:
    """The requested paths, each within an allowed one."""
    allowed = (*config.writable, *(config.readable if key == "readable" else ()))
    within = [(base_dir / path).resolve() for path in allowed]
    for path in asked:
        wanted = (folder / path).resolve()
        if not any(wanted.is_relative_to(grant) for grant in within):
            raise SourceUnavailable(
                f"it asks for '{path}': write the path into '{key}' of the source's config"
            )
        if not wanted.exists():
            raise SourceUnavailable(f"it asks for '{path}', which does not exist")
        yield wanted


def _variables(
    asked: Sequence[str], allowed: Sequence[str], environ: Mapping[str, str]
) -> Iterator[tuple[str, str]]:
    for name in asked:
        if name not in allowed:
            raise SourceUnavailable(
                f"it asks for the variable {name}: write it into 'environment' of the source's "
                "config"
            )
        if name not in environ:
            raise SourceUnavailable(f"it needs the environment variable {name}, which is not set")
        yield name, environ[name]
