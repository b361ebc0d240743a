"""What is owed: per operation a fixed table of claims, each stated as closed obligations."""

from __future__ import annotations

from hloproof.claims.operations.owed import CLAIMS, OwedClaim, owed

__all__ = ["CLAIMS", "OwedClaim", "owed"]
