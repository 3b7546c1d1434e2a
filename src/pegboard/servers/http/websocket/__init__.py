"""`/ws`: calls, runs and events on one connection, each request with an id."""
