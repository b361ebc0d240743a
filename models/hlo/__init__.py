"""HLO modules: shapes, instructions, their text, and the inference of shapes."""
