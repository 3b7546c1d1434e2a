"""The master keys: given by a setting, in a file of the data directory, or of this process."""

import binascii
import os
import secrets
from base64 import b64decode, b64encode
from hashlib import sha256
from pathlib import Path
from typing import Protocol

from pegboard.errors import ConfigError, Unavailable

KEY_BYTES = 32
FILE_NAME = "master.key"


class MasterKeys(Protocol):
    """The keys by their ids, newest first."""

    def list(self) -> dict[str, bytes]:
        """The keys that there are."""
        ...

    def make(self) -> dict[str, bytes]:
        """The same, with a first key where there is none.

        Raises:
            Unavailable: None can be made.
        """
        ...


def read_keys(text: str, where: str) -> dict[str, bytes]:
    """The keys of a text, by their ids and in its order.

    Args:
        text: Keys of 32 bytes in base64, separated by commas or line breaks.
        where: What holds the text, for the message.

    Raises:
        ConfigError: One of them is no key.
    """
    keys: dict[str, bytes] = {}
    for item in text.replace(",", " ").split():
        try:
            key = b64decode(item, altchars=b"-_" if {"-", "_"} & set(item) else None, validate=True)
        except (binascii.Error, ValueError):
            key = b""
        if len(key) != KEY_BYTES:
            raise ConfigError(
                f"{where}: a key is {KEY_BYTES} random bytes in base64; make one with "
                "'openssl rand -base64 32'"
            )
        keys[id_of(key)] = key
    if not keys:
        raise ConfigError(f"{where} has no key: make one with 'openssl rand -base64 32'")
    return keys


def id_of(key: bytes) -> str:
    """Names a key without telling it."""
    return sha256(b"pegboard master key:" + key).hexdigest()[:16]


class GivenKeys:
    """Keys that the operator has given.

    Args:
        keys: By their ids, newest first; none where credentials cannot be stored.
        hint: What to do where there is none.
    """

    def __init__(self, keys: dict[str, bytes], *, hint: str = "") -> None:
        self._keys = keys
        self._hint = hint

    def list(self) -> dict[str, bytes]:
        """The keys that there are."""
        return self._keys

    def make(self) -> dict[str, bytes]:
        """The same; none is made.

        Raises:
            Unavailable: There is none.
        """
        if not self._keys:
            raise Unavailable(self._hint, nothing_done=True, permanent=True)
        return self._keys


class FileKeys:
    """Keys in a file of the data directory that only its owner can read.

    Args:
        path: The file; the first credential makes it.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._keys: dict[str, bytes] = {}

    def list(self) -> dict[str, bytes]:
        """The keys of the file; none where it is missing.

        Raises:
            Unavailable: It cannot be read, or holds no key.
        """
        if self._keys:
            return self._keys
        try:
            self._keys = read_keys(self._path.read_text(encoding="ascii"), self._path.name)
        except FileNotFoundError:
            return {}
        except (OSError, UnicodeDecodeError) as error:
            raise _unreadable(self._path) from error
        except ConfigError as error:
            raise Unavailable(error.message, nothing_done=True, permanent=True) from error
        return self._keys

    def make(self) -> dict[str, bytes]:
        """The keys of the file, which is made if it is missing.

        Raises:
            Unavailable: It cannot be read or written.
        """
        if found := self.list():
            return found
        text = b64encode(secrets.token_bytes(KEY_BYTES)) + b"\n"
        made = self._path.with_name(f".{self._path.name}.{secrets.token_hex(6)}")
        try:
            handle = os.open(made, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            with os.fdopen(handle, "wb") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            try:
                os.link(made, self._path)  # never in place of one that another process has made
            except FileExistsError:
                pass
            finally:
                made.unlink()
        except OSError as error:
            raise _unreadable(self._path) from error
        return self.list()


class MemoryKeys(GivenKeys):
    """A key of this process, for a board whose credentials end with it."""

    def __init__(self) -> None:
        key = secrets.token_bytes(KEY_BYTES)
        super().__init__({id_of(key): key})


def _unreadable(path: Path) -> Unavailable:
    return Unavailable(
        f"The master key in {path.name} cannot be read or written; check the data directory.",
        nothing_done=True,
        permanent=True,
    )
