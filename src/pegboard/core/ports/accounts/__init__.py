"""Ports of accounts: who has one, what they may, and what belongs to them."""
