"""The settings of the context budget."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class ContextLimits:
    """How much of a conversation a model is shown.

    Attributes:
        window: Tokens of input and output together; None for the window of the model.
        max_output: Tokens that are left free for the answer, at most a quarter of the window.
        reserve: The share of the window that is left free because token counts are estimates.
        result_bytes: Bytes of one result that a model is shown at once; the rest is stored.
        keep_turns: Turns of the model at the end that are left alone as long as they fit.
    """

    window: int | None = None
    max_output: int = 8_192
    reserve: float = 0.05
    result_bytes: int = 32_000
    keep_turns: int = 3

    def room(self, model_window: int | None) -> int | None:
        """Tokens of a request; None where no window is known.

        Args:
            model_window: The window of the model; None when it is not known.
        """
        window = self.window or model_window
        if not window:
            return None
        return window - min(self.max_output, window // 4) - int(window * self.reserve)
