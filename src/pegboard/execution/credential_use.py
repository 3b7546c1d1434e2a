"""The credential of one call: its tool gets the value, and everything else of the call masks it."""

from base64 import b64encode
from collections.abc import Callable, Sequence

from pegboard.core.credential import Credential, Secret
from pegboard.core.ports.accounts.credential_store import StoredCredential
from pegboard.core.ports.accounts.credentials import CallerCredentials
from pegboard.core.principal import Principal
from pegboard.execution.results.redaction import make_redactor


class CredentialUse:
    """The `CallCredential` of a call.

    Args:
        stored: The credential.
        credentials: Reveals it.
        tool: The name of the tool, for messages.
        principal: The caller.
    """

    __slots__ = ("_credentials", "_principal", "_redact", "_secrets", "_stored", "_tool")

    def __init__(
        self,
        stored: StoredCredential,
        credentials: CallerCredentials,
        *,
        tool: str,
        principal: Principal,
    ) -> None:
        self._principal = principal
        self._stored = stored
        self._credentials = credentials
        self._tool = tool
        self._secrets: dict[str, None] = {}
        self._redact: Callable[[str], str] | None = None

    @property
    def about(self) -> Credential:
        """What is known of it."""
        return self._stored.about

    async def reveal(self) -> Secret:
        """Its value, which the call masks from here on.

        Raises:
            CredentialMissing: The system has ended the connection.
            Unavailable: The token cannot be refreshed now.
        """
        return self._note(await self._credentials.reveal(self._stored, tool=self._tool))

    async def renew(self, refused: Secret) -> Secret | None:
        """Another value than the one that the system has refused; None where none can be had.

        Raises:
            CredentialMissing: The system has ended the connection.
            Unavailable: The token cannot be refreshed now.
        """
        secret = await self._credentials.renew(self._stored, refused, tool=self._tool)
        return None if secret is None else self._note(secret)

    async def give_up(self) -> None:
        """Report that the system has refused a renewed value too.

        Raises:
            CredentialMissing: The caller has to connect it again.
        """
        await self._credentials.end(self._stored, tool=self._tool, principal=self._principal)

    async def extend(self, scopes: Sequence[str]) -> None:
        """Report scopes that the system asks for and the value lacks.

        Raises:
            CredentialMissing: The caller has to connect it again.
        """
        await self._credentials.extend(
            self._stored, scopes, tool=self._tool, principal=self._principal
        )

    def _note(self, secret: Secret) -> Secret:
        self._secrets.update(dict.fromkeys(_forms(secret)))
        self._redact = make_redactor(tuple(self._secrets))
        return secret

    def mask(self, text: str) -> str:
        """The text without what was revealed."""
        return text if self._redact is None else self._redact(text)


def _forms(secret: Secret) -> list[str]:
    values = [secret.value, secret.access_token, secret.refresh_token]
    if secret.username and secret.value:
        values.append(b64encode(f"{secret.username}:{secret.value}".encode()).decode())
    return [value for value in values if value]
