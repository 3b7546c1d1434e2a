"""Contents of files, in folders or in an S3-compatible service."""
