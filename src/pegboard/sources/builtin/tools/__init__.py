"""One file per built-in tool; dropping one here is all it takes."""
