"""The credentials of callers: the master key, the token endpoint, and the services over them."""

from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from ipaddress import ip_address
from typing import TYPE_CHECKING

from pegboard.core.ports.accounts.credentials import CallerAuth
from pegboard.core.ports.audit_store import Prove
from pegboard.core.ports.http import HttpClient
from pegboard.core.principal import Principal
from pegboard.errors import AccessDenied, ConfigError
from pegboard.execution import CallEnvironment
from pegboard.features.credentials import (
    Connections,
    CredentialParts,
    CredentialResolver,
    Credentials,
    CredentialTarget,
)
from pegboard.features.resources.rules import check_sharing
from pegboard.runtime.settings import Settings
from pegboard.runtime.sources.connectors import Connectors
from pegboard.runtime.sources.state import SourceState
from pegboard.secrets import (
    EnvelopeSealer,
    FileKeys,
    GivenKeys,
    HttpOAuthDiscovery,
    HttpTokenEndpoint,
    MasterKeys,
    MemoryKeys,
    read_keys,
)

if TYPE_CHECKING:
    from pegboard.features.approvals import Approvals
    from pegboard.features.identity import Identity
    from pegboard.storage import Storage

KEY_FILE = "master.key"
_HINT = (
    "Credentials cannot be stored: set PEGBOARD_SECRET_KEY, or PEGBOARD_SECRET_KEY_FILE, to 32 "
    "random bytes in base64, the same for all servers of the database."
)


class CredentialSources:
    """The sources of a board that take credentials of their callers, and who may share one.

    Args:
        states: The sources of the board file.
        connectors: Those of people, which are opened later.
        identity: Says what the owner of a credential may do now.
    """

    def __init__(
        self,
        states: Mapping[str, SourceState],
        connectors: Callable[[], Connectors],
        identity: "Callable[[], Identity]",
    ) -> None:
        self._states = states
        self._connectors = connectors
        self._identity = identity

    def find(self, source: str) -> CredentialTarget | None:
        """What a source takes of its callers; None where there is none of this name."""
        state, owner, is_vetted = self._states.get(source), "", True
        if state is None and (row := self._connectors().find_row(source)) is not None:
            state, owner = self._connectors().observe(source), row.owner
            is_vetted = row.visibility == "global"
        if state is None and (model := self._connectors().find_model(source)) is not None:
            return CredentialTarget(
                source=source,
                auth=CallerAuth(kinds=("bearer", "api_key")),
                owner=model.owner,
                is_vetted=model.visibility == "global",
            )
        if state is None or state.opener is None:
            return None
        read, config = state.opener.kind.caller_auth, state.opener.config
        auth = None if read is None else read(config)
        return CredentialTarget(source=source, auth=auth, owner=owner, is_vetted=is_vetted)

    async def may_lend(self, owner: str, source: str) -> bool:
        """Whether an owner may still let others act with its credential for a source.

        Its account is not disabled, and it may still share the source with those who use it.
        """
        identity, target = self._identity(), self.find(source)
        if not identity.has_accounts:
            return True
        try:
            now = await identity.callers.name_now(Principal(id=owner, user=owner))
            connectors = self._connectors()
            row = connectors.find_row(source) or connectors.find_model(source)
            if row is not None:
                check_sharing(now, row)
        except AccessDenied:
            return False
        return target is not None and target.may_share(now)

    def relist(self, source: str, *, is_removed: bool = False) -> None:
        """List the tools of a source again, where that failed or an account was removed."""
        state = self._states.get(source)
        if state is None and self._connectors().find_row(source) is not None:
            state = self._connectors().observe(source)
        if state is None or state.opener is None or state.opener.kind.caller_auth is None:
            return
        if is_removed or state.status != "ok":
            state.relist.set()


class BoardCredentials:
    """The credentials of a board, made before its calls, its network and its approvals are.

    Args:
        settings: The settings.
        storage: Stores credentials.
        sources: What sources take of their callers, and who may share a credential.
        environment: The clock and the listeners of the board.
        http: The board's guarded client.
        approvals: Hold the calls that wait for a credential.
        stack: Waits for tokens that are being refreshed.
        prove: Writes each change to the audit trail before it takes effect, where required.

    Raises:
        ConfigError: The master key cannot be read.

    Attributes:
        resolver: Finds the credentials of calls.
        service: Stores, lists and removes them.
    """

    def __init__(
        self,
        settings: Settings,
        storage: "Storage",
        sources: CredentialSources,
        *,
        environment: Callable[[], CallEnvironment],
        http: Callable[[], HttpClient | None],
        approvals: "Callable[[], Approvals]",
        stack: AsyncExitStack,
        prove: Prove,
    ) -> None:
        parts = CredentialParts(
            storage.credentials,
            EnvelopeSealer(create_keys(settings)),
            HttpTokenEndpoint(http),
            discovery=HttpOAuthDiscovery(http),
            targets=sources.find,
            may_lend=sources.may_lend,
            environment=environment,
            prove=prove,
        )
        self._approvals = approvals
        self._sources = sources
        connections = Connections(parts, address=address_of(settings), settle=self._settle)
        self.resolver = CredentialResolver(parts, link=connections.link_for)
        self.service = Credentials(
            parts,
            self.resolver,
            connections,
            settle=self._settle,
            forget=lambda source: sources.relist(source, is_removed=True),
        )
        stack.push_async_callback(self.service.close)

    async def _settle(self, source: str, principal: Principal | None) -> None:
        self._sources.relist(source)
        await self._approvals().settle_connections(source, principal=principal)


def create_keys(settings: Settings) -> MasterKeys:
    """The master keys of a board.

    Raises:
        ConfigError: A key that was given cannot be read.
    """
    given, path = settings.secret_key, settings.secret_key_file
    if given is not None and path is not None:
        raise ConfigError("Set PEGBOARD_SECRET_KEY or PEGBOARD_SECRET_KEY_FILE, not both.")
    if given is not None:
        return GivenKeys(read_keys(given.get_secret_value(), "PEGBOARD_SECRET_KEY"))
    if path is not None:
        try:
            text = path.read_text(encoding="ascii")
        except (OSError, UnicodeDecodeError) as error:
            raise ConfigError("PEGBOARD_SECRET_KEY_FILE cannot be read as text.") from error
        return GivenKeys(read_keys(text, "PEGBOARD_SECRET_KEY_FILE"))
    if settings.database is not None:
        return GivenKeys({}, hint=_HINT)
    return MemoryKeys() if settings.data is None else FileKeys(settings.data / KEY_FILE)


def describe_keys(settings: Settings) -> tuple[str, bool]:
    """Where the master key is and what that means for backups, and whether it is missing."""
    backups = "leave it out of backups and keep it elsewhere: without it no credential is restored"
    if settings.secret_key is not None:
        return f"PEGBOARD_SECRET_KEY; {backups}", False
    if settings.secret_key_file is not None:
        return f"{settings.secret_key_file}; {backups}", False
    if settings.database is not None:
        return _HINT, True
    if settings.data is None:
        return "of this process: nothing is stored", False
    path = settings.data / KEY_FILE
    made = "" if path.exists() else "; the first credential makes it"
    return f"{path}; {backups}{made}", False


def address_of(settings: Settings) -> str:
    """Where browsers reach a server of this board; empty where only the operator knows."""
    if settings.public_url:
        return settings.public_url
    host = settings.host
    try:
        address = ip_address(host)
        is_loopback, host = address.is_loopback, f"[{host}]" if address.version == 6 else host
    except ValueError:
        is_loopback = host == "localhost"
    return f"http://{host}:{settings.port}" if is_loopback and settings.port else ""
