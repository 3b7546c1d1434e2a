"""One file per port: what the kernel asks of the world, filled in by `runtime`."""
