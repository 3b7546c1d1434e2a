"""The commands of the section People."""
