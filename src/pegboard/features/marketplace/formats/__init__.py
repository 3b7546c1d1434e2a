"""Formats of external catalogues: one module for each, without I/O."""
