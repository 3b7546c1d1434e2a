"""Finds the credential of a call, and refreshes its token once for all calls and servers."""

import asyncio
import logging
import random
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import islice
from typing import Any

from msgspec import structs

from pegboard.core.credential import DEFAULT_NAME, Credential, Secret
from pegboard.core.event import BoardChanged
from pegboard.core.ports.accounts.credential_store import SealedSecret, StoredCredential
from pegboard.core.ports.accounts.credentials import OAuthSettings, TokenAnswer, TokenRefusal
from pegboard.core.principal import LOCAL, Principal
from pegboard.errors import CredentialMissing, PegboardError, Unavailable
from pegboard.execution.credential_use import CredentialUse
from pegboard.features.credentials.parts import (
    CredentialParts,
    CredentialTarget,
    owner_of,
    settings_in,
)

_LOG = logging.getLogger("pegboard.credentials")
_EARLY = 30.0
"""Seconds before its end at which a token is refreshed."""
_CLAIM = 45.0
"""Seconds that one server has to refresh a token; a request takes 15 at most."""
_PAUSE = 0.1
_USED_EXACT_TO = 60.0
_MAX_PAUSE = 2.0
_WRITES = 300
"""How often a new token is written, for about ten minutes: no one else has it."""
_DEFAULT_LIFETIME = 3600.0
_SCOPE = re.compile(r"[\x21\x23-\x5b\x5d-\x7e]{1,200}")
_MAX_SCOPES = 50
_MAX_SCOPE_LETTERS = 2_000
"""Of all scopes together: what asks for them is kept in a cookie, and stands in an address."""
_ENDINGS = {"oauth2": ("invalid_grant",), "oauth2_client": ("invalid_grant", "invalid_client")}
FORGOTTEN = ("invalid_client", "unauthorized_client")
"""What a server answers that does not know a client any more; one that was registered, another is
registered for."""


class CredentialResolver:
    """The `CallerCredentials` of a board.

    Args:
        parts: The store, the keys and the sources.
        link: Where this owner connects an account of this source and name; empty where no page does
            it.
    """

    def __init__(
        self, parts: CredentialParts, *, link: Callable[[CredentialTarget, str, str], str]
    ) -> None:
        self._parts = parts
        self._link = link
        self._refreshing: dict[
            tuple[asyncio.AbstractEventLoop, str], asyncio.Task[StoredCredential]
        ] = {}

    async def find(
        self, source: str, tool: str, *, principal: Principal, account: str = ""
    ) -> StoredCredential:
        """The caller's own credential, else one that is shared; one of this name where it is given.

        Raises:
            CredentialMissing: There is none that the system accepts; with where to connect one.
        """
        owner = owner_of(principal)
        usable = await self._parts.store.find_usable(source, owner)
        if account:
            usable = [item for item in usable if item.about.name == account]
        own = [item for item in usable if item.about.owner == owner]
        found = _choose(own or [it for it in usable if await self._is_lent(it)])
        if found is None:
            named = f" of the name '{account[:100]}'" if account else ""
            reason = f"you have no credential{named} for '{source}'"
            raise self._missing(tool, source, owner, reason, name=account)
        problem = self._problem_of(found.about)
        if problem:
            raise self._missing(tool, source, owner, problem, name=found.about.name)
        return found

    async def _is_lent(self, stored: StoredCredential) -> bool:
        return await self._parts.may_lend(stored.about.owner, stored.about.source)

    async def reveal(self, stored: StoredCredential, *, tool: str) -> Secret:
        """The value, with a token that is valid now.

        Raises:
            CredentialMissing: The system has ended the connection.
            Unavailable: The token cannot be refreshed now, the value cannot be decrypted, or
                another account was connected meanwhile.
        """
        about = stored.about
        if self._is_due(about):
            try:
                stored = await self._refresh_with_others(about)
            except CredentialMissing as error:
                raise self._missing(
                    tool, about.source, about.owner, error.reason, name=about.name
                ) from error
            _check_account(stored.about, about)
        secret = self._parts.open(stored)
        self._check_server(stored.about, secret, tool=tool)
        await self._note_use(stored.about)
        return secret

    async def renew(self, stored: StoredCredential, refused: Secret, *, tool: str) -> Secret | None:
        """Another token than the one that the system has refused; None for what is no OAuth token.

        Raises:
            CredentialMissing: The system has ended the connection.
            Unavailable: The token cannot be refreshed now, or another account was connected
                meanwhile.
        """
        about = stored.about
        if about.kind not in _ENDINGS:
            return None
        await self._check_issuer(stored, tool=tool)
        try:
            renewed = await self._refresh_with_others(about, refused=refused.sent)
        except CredentialMissing as error:
            raise self._missing(
                tool, about.source, about.owner, error.reason, name=about.name
            ) from error
        _check_account(renewed.about, about)
        return self._parts.open(renewed)

    async def end(self, stored: StoredCredential, *, tool: str, principal: Principal) -> None:
        """Mark a connection of the caller whose new token the system refuses.

        A shared one of somebody else stays: a caller may cause such an answer.

        Raises:
            CredentialMissing: It has to be connected again.
        """
        about = stored.about
        if about.owner != owner_of(principal):
            return
        current = await self._parts.store.credential(about.id)
        if current is not None and current.about.state != "reconnect":
            await self._mark_ended(current.about, "the system refuses its tokens (401)")
        raise self._missing(
            tool,
            about.source,
            about.owner,
            f"'{about.source}' must be connected again: the system refuses its tokens (401)",
            name=about.name,
        )

    async def close(self) -> None:
        """Wait for refreshes: a token that a server has given and no one stores is lost."""
        loop = asyncio.get_running_loop()
        waiting = [task for (of, _), task in self._refreshing.items() if of is loop]
        if waiting:
            await asyncio.wait(waiting, timeout=_CLAIM)

    async def use(self, source: str, *, principal: Principal | None) -> CredentialUse:
        """The credential of a caller, for a source that sends it on a session of its own.

        The board itself lists tools with a shared one, else with that of the source's owner, else
        with the oldest.

        Args:
            source: The source.
            principal: The caller; None for the board itself.

        Raises:
            CredentialMissing: There is none that the system accepts.
        """
        if principal is None:
            target = self._parts.find_target(source)
            owner = "" if target is None else target.owner
            found = [
                item
                for item in await self._parts.store.credentials(source=source)
                if not self._problem_of(item.about)
            ]
            if not found:
                raise self._missing(
                    source, source, "", f"no person has connected an account of '{source}' yet"
                )
            stored = min(found, key=lambda it: (not it.about.shared, it.about.owner != owner))
            id_ = stored.about.owner
            principal = Principal(id=id_, user="" if id_ == LOCAL.id else id_)
        else:
            stored = await self.find(source, source, principal=principal)
        return CredentialUse(stored, self, tool=source, principal=principal)

    async def extend(
        self, stored: StoredCredential, scopes: Sequence[str], *, tool: str, principal: Principal
    ) -> None:
        """Note the scopes that a connection of the caller lacks, for the next consent.

        Raises:
            CredentialMissing: The caller has to connect the account again. Not raised for another
                person's credential, nor for one that no consent gives.
        """
        about = stored.about
        if about.owner != owner_of(principal) or about.kind != "oauth2":
            return
        wanted = _choose_scopes((*scopes, *about.scopes, *about.granted))
        await self._parts.store.update(about.id, {"scopes": wanted})
        reason = f"'{about.source}' asks for more rights: {' '.join(wanted)[:500]}"
        raise self._missing(tool, about.source, about.owner, reason, name=about.name)

    async def _check_issuer(self, stored: StoredCredential, *, tool: str) -> None:
        """End a connection where the server names another authorization server now (SEP-2352).

        Raises:
            CredentialMissing: It does.
        """
        about, given = stored.about, settings_in(self._parts.open(stored))
        if given is None:
            return
        try:
            issuer = await self._parts.discovery.find_issuer(given.server)
        except Unavailable:  # then the refresh decides
            return
        if issuer != given.issuer.rstrip("/"):
            reason = "the server has another authorization server now"
            ended = await self._mark_ended(about, reason)
            raise self._missing(
                tool, about.source, about.owner, self._problem_of(ended), name=about.name
            )

    def _check_server(self, about: Credential, secret: Secret, *, tool: str) -> None:
        """Refuse to send a token to another server than the one that it was given for.

        Raises:
            CredentialMissing: The source has another address now.
        """
        given = settings_in(secret)
        target = self._parts.find_target(about.source)
        auth = None if target is None else target.auth
        now = "" if auth is None or auth.oauth is None else auth.oauth.server
        if given is not None and given.server != now:
            reason = f"'{about.source}' has another address now and must be connected again"
            raise self._missing(tool, about.source, about.owner, reason, name=about.name)

    def _missing(
        self, tool: str, source: str, owner: str, reason: str, *, name: str = ""
    ) -> CredentialMissing:
        target = self._parts.find_target(source)
        account = "" if name == DEFAULT_NAME else name
        link = "" if target is None else self._link(target, owner, account)
        return CredentialMissing(tool, reason, link=link, account=account)

    def _problem_of(self, about: Credential) -> str:
        """Why a credential cannot be used; empty if it can."""
        if about.state == "reconnect":
            return f"'{about.source}' must be connected again: {about.reason}"
        target = self._parts.find_target(about.source)
        if target is not None and target.auth is not None and about.kind not in target.auth.kinds:
            kinds = " or ".join(target.auth.kinds)
            return f"'{about.source}' takes {kinds} now, and your credential is {about.kind}"
        has_ended = about.expires_at is not None and about.expires_at <= self._parts.now()
        if has_ended and about.kind not in _ENDINGS:
            return f"your credential for '{about.source}' has expired"
        return ""

    def _is_due(self, about: Credential) -> bool:
        if about.kind not in _ENDINGS or about.expires_at is None:
            return False
        return about.expires_at - _EARLY <= self._parts.now()

    async def _refresh_with_others(
        self, about: Credential, *, refused: str = ""
    ) -> StoredCredential:
        """Refresh a token; calls at the same time share it, and no cancelled call interrupts it."""
        key = (asyncio.get_running_loop(), f"{about.id} {refused}")
        task = self._refreshing.get(key)
        if task is None:
            refresh = self._refresh(about.id, refused=refused)
            task = asyncio.create_task(refresh, name=f"refresh {about.id}")
            self._refreshing[key] = task

            def forget(done: "asyncio.Task[StoredCredential]") -> None:
                self._refreshing.pop(key, None)
                if not done.cancelled():
                    done.exception()  # each call that waits raises it

            task.add_done_callback(forget)
        return await asyncio.shield(task)

    async def _refresh(self, id: str, *, refused: str) -> StoredCredential:  # noqa: A002 - it is known by its id
        """Refresh a token, or wait until another server has.

        Args:
            id: The credential.
            refused: The token that the system has refused; empty to refresh one that ends.
        """
        store, until = self._parts.store, self._parts.monotonic() + _CLAIM
        while True:
            stored = await store.credential(id)
            if stored is None:
                raise CredentialMissing("", "the credential was removed")
            about = stored.about
            if about.state == "reconnect":
                raise CredentialMissing("", self._problem_of(about))
            is_refused = bool(refused) and self._parts.open(stored).sent == refused
            if not (is_refused or (not refused and self._is_due(about))):
                return stored
            now = self._parts.now()
            if await store.claim_refresh(id, version=about.version, now=now, until=now + _CLAIM):
                return await self._refresh_claimed(stored, is_refused=is_refused)
            if self._parts.monotonic() >= until:
                raise Unavailable(
                    f"The token for '{about.source}' is being refreshed.",
                    retry_after=1.0,
                    nothing_done=True,
                )
            await asyncio.sleep(_PAUSE * (0.5 + random.random()))  # noqa: S311 - no secret

    async def _refresh_claimed(
        self, stored: StoredCredential, *, is_refused: bool
    ) -> StoredCredential:
        about, secret = stored.about, self._parts.open(stored)
        try:
            answer = await self._request(about, secret)
        except PegboardError as error:
            await self._parts.store.release_refresh(about.id)
            is_valid = about.expires_at is not None and about.expires_at > self._parts.now()
            if is_valid and not is_refused:
                _LOG.warning("credentials: %s could not be refreshed yet: %s", about.id, error)
                return stored
            raise Unavailable(
                f"The token for '{about.source}' could not be refreshed: {error.message}",
                retry_after=error.retry_after,
                nothing_done=True,
                permanent=not error.retryable,
            ) from error
        if isinstance(answer, TokenRefusal):
            raise await self._end(about, answer, settings_in(secret))
        return await self._keep(stored, secret, answer)

    async def _request(self, about: Credential, secret: Secret) -> TokenAnswer | TokenRefusal:
        settings = settings_in(secret) or self._settings_of(about)
        endpoint = self._parts.endpoint
        if about.kind == "oauth2_client":
            return await endpoint.request_for_client(
                settings, client_id=secret.username, client_secret=secret.value
            )
        if not secret.refresh_token:
            return TokenRefusal(error="invalid_grant")
        return await endpoint.refresh(settings, refresh_token=secret.refresh_token)

    def _settings_of(self, about: Credential) -> OAuthSettings:
        target = self._parts.find_target(about.source)
        auth = None if target is None else target.auth
        if auth is None or auth.oauth is None:
            raise Unavailable(
                f"'{about.source}' has no `oauth` any more.", nothing_done=True, permanent=True
            )
        return auth.oauth

    async def _end(
        self, about: Credential, refusal: TokenRefusal, given: OAuthSettings | None
    ) -> PegboardError:
        """Mark a connection that the system has ended; return the error of the calls.

        Args:
            about: The credential.
            refusal: What the system has answered.
            given: What discovery found for the credential; None where its source is configured.
        """
        is_forgotten = given is not None and given.is_registered and refusal.error in FORGOTTEN
        if refusal.error not in _ENDINGS[about.kind] and not is_forgotten:
            await self._parts.store.release_refresh(about.id)
            return Unavailable(
                f"The authorization server of '{about.source}' refuses this board: "
                f"{refusal.error}.",
                nothing_done=True,
                permanent=True,
            )
        ended = await self._mark_ended(
            about, f"the system has ended the connection ({refusal.error})"
        )
        return CredentialMissing("", self._problem_of(ended))

    async def _mark_ended(self, about: Credential, reason: str) -> Credential:
        """Note that a connection has to be made again, unless it has a newer value."""
        changes = {"state": "reconnect", "reason": reason}
        ended = await self._parts.store.update(about.id, changes, version=about.version)
        if ended is not None:
            _LOG.warning("credentials: %s must be connected again: %s", about.id, reason)
            self._parts.emit(
                BoardChanged(
                    kind="credential",
                    action="ended",
                    at=self._parts.now(),
                    subject=about.id,
                    detail={"source": about.source, "name": about.name, "owner": about.owner},
                )
            )
        return structs.replace(about, **changes)

    async def _keep(
        self, stored: StoredCredential, secret: Secret, answer: TokenAnswer
    ) -> StoredCredential:
        """Store a new token; the old refresh token may be worth nothing already."""
        fresh = replace(
            secret,
            access_token=answer.access_token,
            refresh_token=answer.refresh_token or secret.refresh_token,
        )
        about = stored.about
        sealed = self._parts.seal(fresh, about)
        can_renew = bool(fresh.refresh_token) or about.kind == "oauth2_client"
        changes = {"expires_at": expiry_of(answer, self._parts.now(), can_renew=can_renew)}
        changed = await self._write(about, changes, sealed)
        if changed is None:  # its owner has just given another value
            current = await self._parts.store.credential(about.id)
            if current is None:
                raise CredentialMissing("", "the credential was removed")
            return current
        return StoredCredential(about=changed, sealed=sealed)

    async def _write(
        self, about: Credential, changes: Mapping[str, Any], sealed: SealedSecret
    ) -> Credential | None:
        for attempt in range(1, _WRITES):
            try:
                return await self._parts.store.update(
                    about.id, changes, sealed=sealed, version=about.version
                )
            except Unavailable as error:
                if not error.retryable:
                    raise
            if attempt == 1:
                _LOG.warning("credentials: the new token of %s is not stored yet", about.id)
            await asyncio.sleep(min(_PAUSE * attempt, _MAX_PAUSE))
        return await self._parts.store.update(
            about.id, changes, sealed=sealed, version=about.version
        )

    async def _note_use(self, about: Credential) -> None:
        now = self._parts.now()
        if about.used_at is not None and now - about.used_at < _USED_EXACT_TO:
            return
        try:
            await self._parts.store.update(about.id, {"used_at": now})
        except Unavailable:
            _LOG.warning("credentials: the use of %s could not be noted", about.id)


def expiry_of(answer: TokenAnswer, now: float, *, can_renew: bool) -> float | None:
    """When a token expires; where the server does not say, after an hour if it can be renewed."""
    if answer.lifetime is None:
        return now + _DEFAULT_LIFETIME if can_renew else None
    return now + answer.lifetime


def _choose_scopes(scopes: Sequence[str]) -> tuple[str, ...]:
    """The valid ones of these scopes, the first of them that one consent can ask for."""
    valid = (scope for scope in dict.fromkeys(scopes) if _SCOPE.fullmatch(scope))
    chosen, left = list[str](), _MAX_SCOPE_LETTERS
    for scope in islice(valid, _MAX_SCOPES):
        left -= len(scope) + 1
        if left < 0:
            break
        chosen.append(scope)
    return tuple(chosen)


def _check_account(now: Credential, before: Credential) -> None:
    """Refuse to act with another account than the one that was found, and perhaps approved.

    Raises:
        Unavailable: The owner has just connected another one.
    """
    if now.account != before.account:
        raise Unavailable(
            f"'{before.source}' was connected again during the call.", nothing_done=True
        )


def _choose(found: Sequence[StoredCredential]) -> StoredCredential | None:
    default = next((item for item in found if item.about.is_default), None)
    return default or next(iter(found), None)
