"""One driver for each database, with its errors and its schema."""
