"""Documents of knowledge bases in a database, their index, and evidence."""
