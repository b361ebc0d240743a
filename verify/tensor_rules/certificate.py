"""Proofs of tensor rules as files: the rule, and the obligations that engines proved for it.

The obligations lie beside it as SMT-LIB text. Reading one needs no engine: the rule is taken apart again, and what is
asked on the way must be among the obligations named.
"""

from __future__ import annotations

import json
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from hloproof.engines.certificate import enter
from hloproof.models.tensor_rules.rule import TensorRule
from hloproof.models.tensor_rules.text import parse_tensor_rules
from hloproof.tensor_rules.prove import RuleProof, accepted

SCHEMA: Final = "hloproof-tensor-rule/1"
SUFFIX: Final = ".trule.json"


def write(rule: TensorRule, proof: RuleProof, folder: Path) -> Path:
    """Write the certificate of a proved rule, beside those of its obligations, and its line of the manifest."""
    folder.mkdir(parents=True, exist_ok=True)
    text = json.dumps(contents(rule, proof)) + "\n"
    # Rules of two files may have one name, and may be judged at the same time.
    other = f"{rule.name}.{sha256(text.encode()).hexdigest()[:16]}"
    paths = [folder / f"{name}{SUFFIX}" for name in (rule.name, other)]
    stands = (p for p in paths if _wrote(rule, proof, p, text) or p.read_text(encoding="utf-8") == text)
    return next(stands, paths[-1])


def _wrote(rule: TensorRule, proof: RuleProof, path: Path, text: str) -> bool:
    """Write the text to a file that is not there yet, and name it in the manifest; false where it is there."""
    try:
        with path.open("x", encoding="utf-8") as file:
            file.write(text)
    except FileExistsError:
        return False
    enter(path.parent, {path.name: text}, rule.name, proof.engines)
    return True


def contents(rule: TensorRule, proof: RuleProof) -> dict[str, Any]:
    """The certificate of a rule: its text, and the obligations that a proof of it needs, by their digests."""
    return {
        "schema": SCHEMA,
        "rule": text_of(rule),
        "tier": proof.tier,
        "ranks": list(proof.ranks),
        "obligations": list(proof.facts),
    }


def text_of(rule: TensorRule) -> str:
    """The lines of the rule, from its head to the next one."""
    last = next((n for n in range(rule.line, len(rule.lines)) if rule.lines[n][:1].strip(" \t#")), len(rule.lines))
    return "\n".join(rule.lines[rule.line - 1 : last]).rstrip() + "\n"


def denied(data: Any, shown: frozenset[str]) -> str:
    """Why the certificate is not accepted, given the obligations that were shown; empty where it is.

    Raises InputError when its rule cannot be read.
    """
    if not isinstance(data, dict) or data.get("schema") != SCHEMA:
        return "not a certificate of a tensor rule"
    text, listed = data.get("rule"), data.get("obligations")
    if not isinstance(text, str) or not isinstance(listed, list) or not all(isinstance(k, str) for k in listed):
        return "a certificate has rule and obligations"
    missing = sorted(set(listed) - shown)
    if missing:
        return f"{len(missing)} of its obligations were not shown, {missing[0]} among them"
    rules = parse_tensor_rules(text)
    if len(rules) != 1:
        return "a certificate is about one rule"
    proof = accepted(rules[0], frozenset(listed))
    if not proof.proved:
        return f"the obligations do not prove it: {proof.open}"
    stated = data.get("tier"), data.get("ranks")
    if stated != (proof.tier, list(proof.ranks)):
        return f"it is of the tier {proof.tier}, for the ranks {', '.join(map(str, proof.ranks))}"
    return ""
