"""Accounts of a board, and what belongs to them."""
