"""The audit trail: listed and verified."""

from pegboard.features.audit.service import Audit

__all__ = ["Audit"]
