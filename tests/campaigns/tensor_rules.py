"""A campaign about tensor rules.

    python tests/campaigns/tensor_rules.py --instances 50 --jobs 2
    python tests/campaigns/tensor_rules.py --planted 300 --jobs 2

`--instances`: every proved rule at so many random sizes, as two modules, given to `equiv`: two provers that share the
meaning of movement and of folds, and nothing else. `--planted`: so many rules with one error (a bound, a dimension, a
condition left out, a start that is not clamped), each refuted by a run, proved and so equivalent, or unknown; a proof
that a run tells apart is a finding. The status is 1 when there is one, or a rule whose instances are not proved. The
same --seed gives the same cases; --rules takes those whose names hold a word.
"""

from __future__ import annotations

import argparse
import sys
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tensor_rule_cases import Planted, planted_errors, rules_of_the_project, told, tried_by_equiv

from hloproof.models.tensor_rules.rule import TensorRule


def instances(given: tuple[TensorRule, int, int]) -> tuple[str, Counter[str], str]:
    rule, seed, count = given
    return (rule.name, *tried_by_equiv(rule, seed, count))


def planted(given: Planted) -> tuple[str, str]:
    return f"{given.rule.name}: {given.what}", told(given)


def listed(counts: Counter[str]) -> str:
    return ", ".join(f"{n} {what}" for what, n in sorted(counts.items()))


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--instances", type=int, default=0)
    parser.add_argument("--planted", type=int, default=0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--rules", default="")
    given = parser.parse_args()
    rules = [r for r in rules_of_the_project() if given.rules in r.name and r.expect == "proved"]
    failed = False
    with ProcessPoolExecutor(given.jobs) as pool:
        if given.instances:
            total: Counter[str] = Counter()
            for name, counts, why in pool.map(instances, [(r, given.seed, given.instances) for r in rules]):
                total += counts
                if set(counts) - {"proved"}:
                    failed = True
                    print(
                        f"{name}: {', '.join(f'{n} {what}' for what, n in sorted(counts.items()))}: {why}", flush=True
                    )
            print(f"instances of {len(rules)} rules: {listed(total)}")
        if given.planted:
            verdicts: Counter[str] = Counter()
            for name, verdict in pool.map(planted, planted_errors(rules, given.seed, given.planted)):
                verdicts[verdict] += 1
                if verdict not in ("refuted", "vacuous", "proved"):
                    failed |= verdict == "proved and refuted"
                    print(f"{name}: {verdict}", flush=True)
            print(f"planted errors: {listed(verdicts)}")
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
