"""Doors: each translates between a protocol and the board, and decides nothing."""
