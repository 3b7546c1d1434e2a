"""The paths of accounts: signing in, and what belongs to an account."""
