"""The executable reading of the same semantics: nested lists, plain Python, slow and obviously right."""
