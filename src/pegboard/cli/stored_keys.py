"""The keys of `pegboard login`, by the address of the server."""

import json
from pathlib import Path
from typing import Any, cast

from pegboard.cli.atomic_write import lock_folder, write_file
from pegboard.errors import ConfigError

_NAME = "keys.json"


def keys_file() -> Path:
    """The file of the keys; only this user can read it."""
    from pegboard.runtime.settings import environ

    given = environ().get("XDG_CONFIG_HOME", "")
    base = Path(given) if given.startswith("/") else Path.home() / ".config"
    return base / "pegboard" / _NAME


def read_key(url: str) -> str:
    """The key of a server; empty for none.

    Raises:
        ConfigError: The file cannot be read, or others can read it.
    """
    return _read(keys_file()).get(_place_of(url), "")


def store_key(url: str, key: str) -> Path:
    """Store the key of a server; returns the file.

    Raises:
        ConfigError: The file cannot be read or written.
    """
    path = keys_file()
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    with lock_folder(path):
        text = json.dumps({**_read(path), _place_of(url): key}, indent=2, sort_keys=True)
        write_file(path, f"{text}\n")
    return path


def _read(path: Path) -> dict[str, str]:
    try:
        if path.stat().st_mode & 0o077:
            raise ConfigError(f"{path}: other users can read it: run 'chmod 600 {path}'")
        found: Any = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise ConfigError(f"{path}: cannot be read: {error}") from error
    if not isinstance(found, dict):
        raise ConfigError(f"{path}: it has no keys by address: remove it, and sign in again")
    stored = cast("dict[str, Any]", found)
    return {name: str(key) for name, key in stored.items()}


def _place_of(url: str) -> str:
    return url.rstrip("/").lower()
