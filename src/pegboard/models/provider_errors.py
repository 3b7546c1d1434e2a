"""Errors of providers as ours; the only place where one becomes the other."""

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


def translate_error(error: Exception, model: str) -> PegboardError | None:
    """An error of Pydantic AI's model layer as ours; None for one that is not the provider's.

    Neither the provider's text nor a key is in the message.

    Args:
        error: What was raised.
        model: `provider:name`, for the message.
    """
    from pydantic_ai import exceptions

    status = getattr(error, "status_code", None)
    for name, ours, text in _CATEGORIES:
        if isinstance(error, getattr(exceptions, name)):
            message = text.format(model=model, status=f" ({status})" if status else "")
            if ours is Unavailable:
                return Unavailable(message, retry_after=getattr(error, "retry_after", None))
            return ours(message)
    return None
