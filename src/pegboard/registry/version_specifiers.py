"""Version specifiers: a version in full, or its first numbers."""

from collections.abc import Sequence

from pegboard.errors import InvalidRequest, VersionNotFound

_MAX_NAMED = 10


def fits_pin(version: str, pin: str) -> bool:
    """Whether a version matches a pin: it begins with the same numbers."""
    wanted = pin.split(".")
    return version.split(".")[: len(wanted)] == wanted


def resolve_version(version: str, known: Sequence[str], *, name: str) -> str:
    """The one version that a specifier means, for changes and comparisons.

    A call takes the best match of a pin; here an ambiguous specifier is refused.

    Args:
        version: In full, or as in a pin: `1.0` for `1.0.0`.
        known: Versions in full, the oldest first.
        name: The tool, for the message.

    Raises:
        VersionNotFound: No version matches; lists those there are.
        InvalidRequest: Several versions match; lists them.
    """
    if version in known:
        return version
    fitting = [item for item in known if fits_pin(item, version)]
    match fitting:
        case [only]:
            return only
        case []:
            there_are = ", ".join(known[-_MAX_NAMED:])
            message = f"'{name}' has no version '{version[:100]}'; there are {there_are}."
            raise VersionNotFound(message)
        case _:
            several = ", ".join(fitting[-_MAX_NAMED:])
            message = f"'{version[:100]}' may be several versions of '{name}': {several}"
            raise InvalidRequest(f"{message}; name one in full.")
