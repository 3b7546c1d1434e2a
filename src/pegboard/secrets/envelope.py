"""Envelope encryption: each value has a key of its own, which the master key encrypts."""

import secrets

from pegboard.core.ports.accounts.credential_store import SealedSecret
from pegboard.errors import Unavailable
from pegboard.secrets.master_keys import KEY_BYTES, MasterKeys

_NONCE_BYTES = 12


class EnvelopeSealer:
    """The `SecretSealer` of a board: AES-256-GCM, bound to a context.

    ```python
    sealer = EnvelopeSealer(MemoryKeys())
    sealed = sealer.seal(b"token", context="cred_1/ada")
    sealer.open(sealed, context="cred_1/ada")  # b"token"
    ```

    Args:
        keys: The master keys; the newest one seals.
    """

    def __init__(self, keys: MasterKeys) -> None:
        self._keys = keys

    def seal(self, plain: bytes, *, context: str) -> SealedSecret:
        """Encrypt a value.

        Raises:
            Unavailable: There is no master key, and none can be made.
        """
        key_id, master = next(iter(self._keys.make().items()))
        data_key = secrets.token_bytes(KEY_BYTES)
        return SealedSecret(
            key_id=key_id,
            data_key=_encrypt(master, data_key, _of_key(key_id, context)),
            value=_encrypt(data_key, plain, context),
        )

    def open(self, sealed: SealedSecret, *, context: str) -> bytes:
        """Decrypt a value.

        Raises:
            Unavailable: Its master key is missing, or it was changed or moved.
        """
        return _decrypt(self._data_key(sealed, context), sealed.value, context)

    def reseal(self, sealed: SealedSecret, *, context: str) -> SealedSecret | None:
        """Encrypt its data key with the newest master key; None where it is already.

        Raises:
            Unavailable: As `open`.
        """
        key_id, master = next(iter(self._keys.make().items()))
        if sealed.key_id == key_id:
            return None
        data_key = self._data_key(sealed, context)
        return SealedSecret(
            key_id=key_id,
            data_key=_encrypt(master, data_key, _of_key(key_id, context)),
            value=sealed.value,
        )

    def _data_key(self, sealed: SealedSecret, context: str) -> bytes:
        master = self._keys.list().get(sealed.key_id)
        if master is None:
            raise Unavailable(
                "The master key of this credential is missing: add it to PEGBOARD_SECRET_KEY, "
                "or store the credential again.",
                nothing_done=True,
                permanent=True,
            )
        return _decrypt(master, sealed.data_key, _of_key(sealed.key_id, context))


def _of_key(key_id: str, context: str) -> str:
    return f"data key\n{key_id}\n{context}"


def _encrypt(key: bytes, plain: bytes, context: str) -> bytes:
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(_NONCE_BYTES)
    return nonce + AESGCM(key).encrypt(nonce, plain, context.encode())


def _decrypt(key: bytes, sealed: bytes, context: str) -> bytes:
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce, body = sealed[:_NONCE_BYTES], sealed[_NONCE_BYTES:]
    try:
        return AESGCM(key).decrypt(nonce, body, context.encode())
    except (InvalidTag, ValueError) as error:
        raise Unavailable(
            "A stored credential was changed or moved, and cannot be read: store it again.",
            nothing_done=True,
            permanent=True,
        ) from error
