"""Readers of file formats; they are imported in the sandboxed process alone."""
