"""Checks of what a credential is for: its source, its kind, who may share it, its name."""

from pegboard.core.credential import CredentialKind
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, InvalidRequest
from pegboard.features.credentials.parts import CredentialParts, CredentialTarget


def check_target(parts: CredentialParts, source: str, *, principal: Principal) -> CredentialTarget:
    """The source that a credential of a caller is for.

    Raises:
        InvalidRequest: There is none for this caller, or it takes nothing of its callers.
    """
    target = parts.find_target(source)
    if target is None or parts.hides(principal, source):
        raise InvalidRequest(f"There is no source '{source[:100]}'.", parameter="source")
    if target.auth is None:
        raise InvalidRequest(
            f"'{source}' takes no credentials of its callers: its configuration needs "
            "`auth: {kind: caller}`.",
            parameter="source",
        )
    return target


def check_kind(target: CredentialTarget, kind: CredentialKind) -> None:
    """Refuse a kind that the source cannot send.

    Raises:
        InvalidRequest: It cannot.
    """
    kinds = () if target.auth is None else target.auth.kinds
    if kind not in kinds:
        raise InvalidRequest(
            f"'{target.source}' takes {' or '.join(kinds)}, not {kind}.", parameter="kind"
        )


def check_may_share(target: CredentialTarget, principal: Principal) -> None:
    """Refuse a caller who may not share its credential with all callers of a source.

    Raises:
        AccessDenied: It may not.
    """
    if not target.may_share(principal):
        raise AccessDenied(
            target.source, "only the owner of the source or an operator shares a credential"
        )


def check_name(name: str) -> str:
    """Check the name of a credential.

    Raises:
        InvalidRequest: It is none.
    """
    text = name.strip()
    if not 1 <= len(text) <= 100 or not text.isprintable() or "/" in text:
        raise InvalidRequest(
            "A name has 1 to 100 printable characters, without '/'.", parameter="name"
        )
    return text
