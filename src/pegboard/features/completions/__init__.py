"""Completions: an agent answers messages that a client keeps itself."""

from pegboard.features.completions.service import (
    CompletionCall,
    CompletionEnd,
    CompletionEvent,
    CompletionRequest,
    Completions,
    CompletionText,
)

__all__ = [
    "CompletionCall",
    "CompletionEnd",
    "CompletionEvent",
    "CompletionRequest",
    "CompletionText",
    "Completions",
]
