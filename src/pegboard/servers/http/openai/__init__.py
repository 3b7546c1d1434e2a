"""OpenAI's chat completions and responses, answered by the agents of the board."""
