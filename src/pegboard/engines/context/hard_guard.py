"""Layer 5: no request leaves that cannot fit into the window of the model."""

from pegboard.engines.context.view import ContextView
from pegboard.errors import ContextTooLong


def check_room(view: ContextView, *, room: int, model: str) -> None:
    """Check that a request fits.

    Raises:
        ContextTooLong: It does not, though everything that may be left out is.
    """
    tokens = view.tokens
    if tokens > room:
        raise ContextTooLong(
            f"The request needs about {tokens} tokens, and '{model}' has room for {room}: the "
            "instructions, the list of tools, the message and the last turn cannot be shortened. "
            "Use a model with a larger window, fewer tools or a shorter message."
        )
