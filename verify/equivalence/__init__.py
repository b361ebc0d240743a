"""Whether two modules compute the same: `decide` answers with a certificate, `recheck` reads the certificate again.

Trusted: the reading of modules into a graph, the element rules, index arithmetic, the identities and the checker.
Not trusted: the matcher, whose certificate the checker proves before anything is called proved.
"""

from __future__ import annotations

from hloproof.equivalence.answer import Certificate, Mismatch, Place, Result
from hloproof.equivalence.decide import decide, recheck

__all__ = ["Certificate", "Mismatch", "Place", "Result", "decide", "recheck"]
