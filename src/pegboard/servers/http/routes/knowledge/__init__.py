"""The paths of knowledge bases and their documents."""
