"""Reading what external catalogues say: one module for each format, and no I/O."""
