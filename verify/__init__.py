"""How we know: obligations, solvers, verdicts, reports."""
