"""What we ship to people who write sources: suites that say what a plug must keep."""

from pegboard.testing.source_contract import SourceContract

__all__ = ["SourceContract"]
