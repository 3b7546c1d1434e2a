"""Terms, cutting, retrieval and grounding: what knowledge bases do with texts."""
