"""Files as text with pages, blocks and findings, read in the sandbox."""

from pegboard.documents.converter import SandboxConverter

__all__ = ["SandboxConverter"]
