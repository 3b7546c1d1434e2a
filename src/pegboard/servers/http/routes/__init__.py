"""The paths of the API, one file a subject."""
