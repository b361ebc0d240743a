"""The verdicts on whole HLO files from earlier runs, in the file of the proof cache: what has not changed is not read.

An entry is found by the text, its name, what was asked for, the source of this project as it stands and the versions of
the solvers. Files with an internal error, a problem, or an unknown that another run might decide are not kept. Entries
are JSON, compressed: a cache that comes from elsewhere can be wrong, and cannot run code.
"""

from __future__ import annotations

import json
import zlib
from contextlib import suppress
from dataclasses import asdict, astuple
from hashlib import sha256
from typing import Any

from hloproof.engines.store import DAMAGED, Store
from hloproof.models.errors import Position
from hloproof.pipeline.options import Options
from hloproof.pipeline.record_cache import found_from, record_from, source_digest
from hloproof.results.results import Comment, FileResults, InstructionResult, ModuleResults, OperationVerdicts, Site
from hloproof.results.verdict import ClaimResult, Verdict


class FileCache:
    """The entries for one set of options; none without a cache file, and none where certificates are wanted."""

    def __init__(self, options: Options) -> None:
        path = None if options.certify is not None else options.cache
        self._store = Store(path)
        asked = (
            options.selection,
            options.cross,
            options.obligation_seconds,
            options.layout_sensitive,
            options.after_copy_insertion,
            options.index_width,
        )
        self._asked = repr(asked).encode()

    def key(self, name: str, text: str, plan: tuple[str, str] | None = None) -> bytes:
        """The key of a file and of the memory plan beside it, its path and text; b"" where nothing is kept."""
        if not self._store.is_open:
            return b""
        # The plan is parts of its own: a module that ends with what was the plan of another is another text, and an
        # empty plan is another than none.
        said = (name, text, *(plan or ()))
        parts = (source_digest(), self._asked, *(p.encode(errors="surrogateescape") for p in said))
        return b"file " + sha256(b"".join(sha256(p).digest() for p in parts)).digest()

    def get(self, key: bytes, empty: FileResults) -> FileResults | None:
        """What is kept, put into `empty`; no time was spent on it."""
        with suppress(*DAMAGED, zlib.error):
            found = self._store.get(key)
            if found is not None:
                _fill(empty, json.loads(zlib.decompress(found)))
                return empty
        return None

    def put(self, key: bytes, results: FileResults) -> None:
        """Keep the results, if no other run could decide otherwise."""
        data = None if results.problems or not self._store.is_open else _data(results)
        if data is not None:
            self._store.put(key, zlib.compress(json.dumps(data, separators=(",", ":")).encode(), 1))

    def close(self) -> None:
        self._store.close()


def _data(results: FileResults) -> dict[str, Any] | None:
    """The results as JSON data; None where they may not be kept."""
    groups: dict[int, int] = {}
    claims: list[list[Any]] = []
    modules = []
    for m in results.modules:
        rows = []
        for r in m.instructions:
            for c in (*r.shared.claims, *r.own):
                if c.verdict is Verdict.INTERNAL or not c.final:
                    return None
            group = groups.get(id(r.shared))
            if group is None:
                group = groups[id(r.shared)] = len(claims)
                claims.append([asdict(c) for c in r.shared.claims])
            i = r.instruction
            row: list[Any] = [r.computation, i.name, i.opcode, i.position.line, i.position.column, group]
            if r.own:
                row.append([asdict(c) for c in r.own])
            rows.append(row)
        modules.append([m.module, rows])
    if any(r.verdict in (Verdict.INTERNAL, Verdict.UNKNOWN) for r in results.others):
        return None
    return {
        "claims": claims,
        "modules": modules,
        "others": [asdict(r) for r in results.others],
        "suppressions": [astuple(c) for c in results.suppressions],
    }


def _fill(results: FileResults, data: dict[str, Any]) -> None:
    shared = [OperationVerdicts(tuple(map(found_from, claims))) for claims in data["claims"]]
    modules = []
    for name, rows in data["modules"]:
        module = ModuleResults(name)
        for computation, instruction, opcode, line, column, group, *own in rows:
            site = Site(instruction, opcode, Position(line, column))
            found = InstructionResult(computation, site, shared[group])
            if own:
                found.own.extend(map(found_from, own[0]))
            module.instructions.append(found)
        modules.append(module)
    others: list[ClaimResult] = [record_from(r) for r in data["others"]]
    comments = tuple(Comment(file, line, tuple(claims), why) for file, line, claims, why in data["suppressions"])
    results.modules, results.others, results.suppressions = modules, others, comments
