"""What each opcode means, as a formula, derived from its semantics and independent of models/indexing."""
