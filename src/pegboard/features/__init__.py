"""The rules of the service, one room a noun."""
