"""Accounts in a database, and what belongs to them."""
