"""Indexing maps of HLO operations, output to input and input to output."""
