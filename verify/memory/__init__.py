"""Memory plans judged: every array has a slice of its own size, and no two that are needed at once share a byte."""
