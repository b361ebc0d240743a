"""Campaigns: random programs, maps, rules and obligations, and what must hold of them."""
