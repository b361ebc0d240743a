"""The matcher: looks for proofs, and is not trusted; nothing outside this folder but `decide` imports it."""
