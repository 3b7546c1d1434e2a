"""One file per built-in tool; a new file is found automatically."""
