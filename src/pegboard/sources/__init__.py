"""Where tools come from: one folder per kind, found by entry point, imported by nobody."""
