"""Completions: an agent answers messages that a client keeps itself."""

from pegboard.features.completions.service import (
    COMPLETION,
    CompletionCall,
    CompletionEnd,
    CompletionEvent,
    CompletionRequest,
    Completions,
    CompletionText,
)

__all__ = [
    "COMPLETION",
    "CompletionCall",
    "CompletionEnd",
    "CompletionEvent",
    "CompletionRequest",
    "CompletionText",
    "Completions",
]
