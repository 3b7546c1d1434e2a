"""The context budget: what of a conversation a model is shown, in five layers."""

from pegboard.engines.context.guard import ContextGuard, FittedContext
from pegboard.engines.context.limits import ContextLimits
from pegboard.engines.context.view import ContextState

__all__ = ["ContextGuard", "ContextLimits", "ContextState", "FittedContext"]
