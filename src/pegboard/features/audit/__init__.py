"""What has to be provable: shown, exported and checked."""

from pegboard.features.audit.service import Audit

__all__ = ["Audit"]
