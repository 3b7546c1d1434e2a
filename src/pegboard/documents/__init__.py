"""Files of foreign people as text, converted outside of the server."""
