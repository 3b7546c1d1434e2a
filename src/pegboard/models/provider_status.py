"""Statuses of providers that are spoken to over HTTP, as our errors."""

import time

from pegboard.core.ports.http import HttpResponse
from pegboard.errors import ConfigError, InvalidRequest, PegboardError, Unavailable


def translate_status(answer: HttpResponse, model: str, *, role: str) -> PegboardError:
    """An answer that is no success as an error of ours; the provider's text is in no message.

    Args:
        answer: With another status than 200.
        model: `provider:name`, for the message.
        role: What the model is for, as `reranker`.
    """
    status = answer.status
    if status in range(300, 400):
        return ConfigError(
            f"The server of the {role} '{model}' redirects requests ({status}), which is not "
            "followed: check its base_url."
        )
    if status in {401, 403}:
        return ConfigError(f"The provider refused the key for '{model}' ({status}): check it.")
    if status in {404, 405}:
        return ConfigError(
            f"The server has no {role} '{model}' ({status}): check its name and base_url."
        )
    if status == 429:
        if b"insufficient_quota" in answer.content:
            return ConfigError(f"The account for '{model}' has no quota left (429).")
        wait = answer.retry_after(time.time())
        message = f"The provider limits requests to '{model}' (429)."
        return Unavailable(message, retry_after=wait)
    if status < 500 and status != 408:
        return InvalidRequest(f"The provider refused a request to '{model}' ({status}).")
    return Unavailable(f"The provider of '{model}' has failed ({status}).")


def encode_text(text: str) -> str:
    """A text without halves of characters, which JSON cannot carry."""
    return text.encode("utf-8", "replace").decode()
