"""Proofs of equivalence as files: both modules, and the steps that the checker reads. Nothing else is needed."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from pathlib import Path
from typing import Final

from hloproof.equivalence.answer import Certificate, Result
from hloproof.equivalence.decide import recheck
from hloproof.models.errors import InputError
from hloproof.queries.equivalence import one_module, standing, tier_named
from hloproof.results.errors import BadInput
from hloproof.results.files import read_file, value_of
from hloproof.tensor_rules.certificate import SUFFIX, denied

SCHEMA: Final = "hloproof-equivalence/1"
_SECONDS: Final = 60.0
"""What it may take to look whether the proof stands."""


def recheck_tensor_rules(folder: Path, shown: Collection[str]) -> Iterator[tuple[str, str]]:
    """Each certificate of a tensor rule in the folder, with why it is not accepted, given the obligations that were
    shown; empty where it is."""
    for path in sorted(folder.glob(f"*{SUFFIX}")):
        try:
            reason = denied(value_of(read_file(path), path.name), frozenset(shown))
        except (BadInput, InputError) as error:
            reason = str(error)
        yield path.name, reason


def certificate_text(before: str, after: str, certificate: Certificate) -> str:
    """A certificate with the texts of the two modules."""
    data = {"schema": SCHEMA, "tier": certificate.tier, "before": before, "after": after, "proof": certificate.proof}
    return json.dumps(data) + "\n"


def recheck_text(text: str | bytes, file: str) -> Result:
    """What the checker says of a certificate, without a search; unknown where its proof does not stand. Raises BadInput
    when the file is none, InputError when its modules cannot be read."""
    data = value_of(text, file)
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        raise BadInput(f"{file}: not a certificate of equivalence; `hloproof equiv --certificate` writes one")
    if not all(isinstance(data.get(name), str) for name in ("tier", "before", "after")) or "proof" not in data:
        raise BadInput(f"{file}: a certificate has tier, before, after and proof")
    try:
        tier = tier_named(data["tier"])
    except LookupError as error:
        raise BadInput(f"{file}: {error.args[0]}") from error
    modules = [one_module(data[name], f"{file} ({name})") for name in ("before", "after")]
    result = recheck(modules[0], modules[1], Certificate(tier, data["proof"]))
    return standing(modules[0], modules[1], result, _SECONDS, _SECONDS)
