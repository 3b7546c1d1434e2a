"""The nouns and the ports: frozen values and Protocols, no I/O."""
