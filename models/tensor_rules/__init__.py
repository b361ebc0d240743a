"""Rewrite rules over tensors of any size: `slice(concatenate(A, B, dim=0), start=[n], limit=[n + m]) => B`."""
