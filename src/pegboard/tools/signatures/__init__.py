"""What a Python function declares: parameters, types, descriptions, and their schema."""
