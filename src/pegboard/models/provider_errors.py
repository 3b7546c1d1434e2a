"""Errors of providers as ours; the only place where one becomes the other."""

from collections.abc import Iterator

from pegboard.errors import ConfigError, ContextTooLong, InvalidRequest, PegboardError, Unavailable

_CATEGORIES: tuple[tuple[str, type[PegboardError], str], ...] = (
    (
        "ModelContextWindowExceededError",
        ContextTooLong,
        "The conversation is too long for the model '{model}'.",
    ),
    (
        "ModelAuthenticationError",
        ConfigError,
        "The provider refused the key for '{model}'{status}: check it.",
    ),
    (
        "ModelNotFoundError",
        ConfigError,
        "The provider has no model '{model}'{status}: check its name.",
    ),
    (
        "ModelQuotaExceededError",
        ConfigError,
        "The account for '{model}' has no quota left{status}.",
    ),
    ("ModelRateLimitError", Unavailable, "The provider limits requests to '{model}'{status}."),
    (
        "ModelConnectionError",
        Unavailable,
        "The provider of '{model}' cannot be reached, or was cut off.",
    ),
    (
        "ModelRequestRejectedError",
        InvalidRequest,
        "The provider refused a request to '{model}'{status}.",
    ),
    ("ModelAPIError", Unavailable, "The provider of '{model}' has failed{status}."),
    ("UserError", ConfigError, "The model '{model}' is not configured: its key is missing."),
    (
        "UnexpectedModelBehavior",
        Unavailable,
        "The model '{model}' gave an answer that cannot be read.",
    ),
)
"""Classes of `pydantic_ai.exceptions`, the more special ones first, and what they become."""


_REDIRECTS = range(300, 400)


def translate_error(error: Exception, model: str) -> PegboardError | None:
    """An error of Pydantic AI's model layer as ours; None for one that is not the provider's.

    Neither the provider's text nor a key is in the message.

    Args:
        error: What was raised.
        model: `provider:name`, for the message.
    """
    from pydantic_ai import exceptions

    if not isinstance(error, exceptions.AgentRunError | exceptions.UserError):
        return None
    chain = list(_list_causes(error))
    refused = next((cause for cause in chain if isinstance(cause, InvalidRequest)), None)
    if refused is not None:
        return ConfigError(f"The address of the model '{model}' is not allowed: {refused}")
    found = (getattr(cause, "status_code", None) for cause in chain)
    status = next((status for status in found if isinstance(status, int)), None)
    if status in _REDIRECTS:
        return ConfigError(
            f"The provider of '{model}' redirects requests ({status}), which is not followed: "
            "check its base URL."
        )
    for name, ours, text in _CATEGORIES:
        if isinstance(error, getattr(exceptions, name)):
            message = text.format(model=model, status=f" ({status})" if status else "")
            if ours is Unavailable:
                return Unavailable(message, retry_after=getattr(error, "retry_after", None))
            return ours(message)
    return None


def _list_causes(error: BaseException) -> Iterator[BaseException]:
    """An error and what it was raised from: of the provider's client, and of ours below it."""
    current: BaseException | None = error
    while current is not None:
        yield current
        current = current.__cause__
