"""What the maps of a fusion are for: which share of an operand it reads, how its reads lie in memory, and which tile of
an operand a tile of the output needs."""
