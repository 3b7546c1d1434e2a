"""Accounts, organisations, and what people sign in with."""

from pegboard.features.identity.service import Identity

__all__ = ["Identity"]
