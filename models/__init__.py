"""What things mean: HLO modules, indexing maps, layouts, rules. The standard library only."""
