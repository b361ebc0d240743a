"""What elements of operations are, written once over any arithmetic: for modules and for rules of any size."""
