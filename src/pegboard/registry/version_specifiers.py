"""How a version is written: in full, or by the numbers with which it begins."""

from collections.abc import Sequence

from pegboard.errors import InvalidRequest, VersionNotFound

_MOST_TOLD = 10


def fits_pin(version: str, pin: str) -> bool:
    """Whether a version is meant by a pin: it begins with the same numbers."""
    wanted = pin.split(".")
    return version.split(".")[: len(wanted)] == wanted


def meant(version: str, known: Sequence[str], *, name: str) -> str:
    """The one version, in full, that somebody means who wants to change or to compare it.

    A call takes the best that a pin fits; here what fits several is refused.

    Args:
        version: In full, or as in a pin: `1.0` for `1.0.0`.
        known: In full, the oldest first.
        name: Of the tool, for people.

    Raises:
        VersionNotFound: None fits; says which there are.
        InvalidRequest: Several fit; says which.
    """
    if version in known:
        return version
    fitting = [item for item in known if fits_pin(item, version)]
    match fitting:
        case [only]:
            return only
        case []:
            there_are = ", ".join(known[-_MOST_TOLD:])
            message = f"'{name}' has no version '{version[:100]}'; there are {there_are}."
            raise VersionNotFound(message)
        case _:
            several = ", ".join(fitting[-_MOST_TOLD:])
            message = f"'{version[:100]}' may be several versions of '{name}': {several}"
            raise InvalidRequest(f"{message}; name one in full.")
