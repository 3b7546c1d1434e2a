"""The events of a board: those it emits of its rules, and what listens."""
