"""One file per port: which plug fills it."""
