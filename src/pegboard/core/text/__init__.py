"""Pure functions over text: its length, truncation, names like it, URI templates."""
