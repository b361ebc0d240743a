"""Memory plans of a compiler: the text, the values that need a place, the order, and when each value is needed."""
