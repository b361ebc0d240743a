"""The protocol as a JSON Schema: `hloproof serve --schema` prints it. Parameters come from the table of methods."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, Final

from hloproof.report.json_report import SCHEMA_FILE
from hloproof.server.methods import METHODS, PROTOCOL
from hloproof.server.protocol import COMMON, KINDS

_Schema = dict[str, Any]

_SORTS: Final[Mapping[str, _Schema]] = {
    "string": {"type": "string"},
    "boolean": {"type": "boolean"},
    "integer": {"type": "integer"},
    "number": {"type": "number"},
    "list": {"type": "array"},
    "list of strings": {"type": "array", "items": {"type": "string"}},
    "list of integers": {"type": "array", "items": {"type": "integer"}},
}

_TEXT: Final[_Schema] = {"type": "string"}
_TEXT_OR_NULL: Final[_Schema] = {"type": ["string", "null"]}
_COUNT: Final[_Schema] = {"type": "integer", "minimum": 0}
_VERDICT: Final[_Schema] = {"enum": ["proved", "refuted", "unknown", "vacuous", "trivial", "internal"]}
_OBJECT_OR_NULL: Final[_Schema] = {"type": ["object", "null"]}
_ID: Final[_Schema] = {"type": ["string", "number", "null"]}


def _list(items: _Schema) -> _Schema:
    return {"type": "array", "items": items}


def _object(needed: Mapping[str, _Schema], more: Mapping[str, _Schema] | None = None) -> _Schema:
    """Clients pass over fields that they do not know."""
    return {"type": "object", "required": list(needed), "properties": {**needed, **(more or {})}}


_AXIOM: Final = _object({"name": _TEXT, "tier": {"enum": ["exact", "real", "rounding"]}})
_EQUIVALENCE: Final[Mapping[str, _Schema]] = {
    "verdict": {"enum": ["proved", "refuted", "unknown"]},
    "reason": _TEXT,
    "axioms": _list(_AXIOM),
    "counterexample": _OBJECT_OR_NULL,
    "mismatch": _OBJECT_OR_NULL,
    "seconds": {"type": "number", "minimum": 0},
}
_CHANGE: Final = _object({"before": _TEXT, "after": _TEXT, **_EQUIVALENCE})
_REPORT: Final = _object({"verdict": _VERDICT, "obligations": {"$ref": "#/$defs/obligations"}})
_JUDGED: Final = _list(
    _object({"claim": _TEXT, "statement": _TEXT, "verdict": _VERDICT, "counterexample": _TEXT_OR_NULL,
             "reason": _TEXT_OR_NULL})
)  # fmt: skip
_CLAIMS: Final = _object(
    {
        "claims": _list(
            _object(
                {**dict.fromkeys(("name", "about", "sentence", "meaning", "holds", "fails"), _TEXT),
                 "on_request": {"type": "boolean"}}
            )
        )
    }
)  # fmt: skip
_PLACE: Final = _object(
    {"computation": _TEXT, "instruction": _TEXT, "index": _list(_COUNT), "place": _TEXT, "must": {"type": "boolean"}}
)
_CLASS: Final = _object({"shape": _TEXT, "places": _list(_PLACE)})
_OPERAND: Final = _object({"operand": _COUNT, "kind": _TEXT}, {"maps": _list(_TEXT), "unknown": _TEXT_OR_NULL})

RESULTS: Final[Mapping[str, _Schema]] = {
    "parse_map": _object({"map": _TEXT}),
    "parse_module": _object({"module": _TEXT, "names": _list(_TEXT)}),
    "compose": _object({"map": _TEXT}),
    "indexing": _object({"operands": _list(_OPERAND)}),
    "rewrite": _object(
        {"verdict": _VERDICT, "counterexample": _TEXT_OR_NULL, "reason": _TEXT_OR_NULL, "equality": _TEXT}
    ),
    "simplify": _object(
        {"map": _TEXT, "derivation": _list(_TEXT), "verdict": _VERDICT}, {"counterexample": _TEXT, "reason": _TEXT}
    ),
    **dict.fromkeys(("check", "rules", "tensor_rules", "maps", "layouts", "memory"), _REPORT),
    "equiv": _object(_EQUIVALENCE, {"certificate": _TEXT_OR_NULL}),
    "passes": _object({"changes": _list(_CHANGE), "whole": {"anyOf": [_CHANGE, {"type": "null"}]}}),
    "recheck": _object({"verdict": _VERDICT, "reason": _TEXT, "axioms": _list(_AXIOM)}),
    "analyze": _object({"instructions": _list(_object({"module": _TEXT}))}),
    "aliases": _object(
        {
            "modules": _list(
                _object({"module": _TEXT, "classes": _list(_object({"shape": _TEXT, "places": _list(_PLACE)}))})
            )
        }
    ),
    "run": _object({"result": {}}),
    "claims": _CLAIMS,
    "explain": _CLAIMS,
    "layout": _object(
        {"shape": _TEXT, "verdict": _VERDICT, "obligations": _JUDGED},
        {
            "elements": {"type": ["integer", "null"]},
            "linear_index": _COUNT,
            "maps": {"type": "object"},
            "compare": {"type": "object"},
        },
    ),
    "version": _object(
        {"name": _TEXT, "version": _TEXT, "protocol": {"const": PROTOCOL}, "schema": _TEXT, "methods": _list(_TEXT)}
    ),
    "shutdown": {"type": "null"},
}
"""The result of each method."""


def parameters(method: str) -> _Schema:
    """The schema of a method's `params`."""
    declared = {**COMMON, **METHODS[method].parameters}
    return {
        "type": "object",
        "required": [name for name in declared if not name.endswith("?")],
        "additionalProperties": False,
        "properties": {name.removesuffix("?"): _SORTS[sort] for name, sort in declared.items()},
    }


def error() -> _Schema:
    """The schema of an `error`."""
    data = _object(
        {"kind": {"enum": [*KINDS.values(), "input"]}},
        {"file": _TEXT, "line": _COUNT, "column": _COUNT, "text": _TEXT, "parameter": _TEXT},
    )
    return _object({"code": {"enum": list(KINDS)}, "message": _TEXT, "data": data})


def answer(result: _Schema) -> _Schema:
    """The schema of what comes back for one request."""
    head = {"jsonrpc": {"const": "2.0"}, "id": _ID}
    return {
        "type": "object",
        "properties": {**head, "result": result, "error": error()},
        "oneOf": [{"required": ["jsonrpc", "id", "result"]}, {"required": ["jsonrpc", "id", "error"]}],
        "additionalProperties": False,
    }


def whole() -> _Schema:
    """Everything: per method its parameters and its answer, and the notes of progress."""
    report = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
    note = _object({"id": _ID, "done": _COUNT, "total": _COUNT, "what": _TEXT})
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": PROTOCOL,
        "description": "What `hloproof serve` reads and writes; docs/protocol.md says it in prose.",
        "$defs": {**report["$defs"], "obligations": report["properties"]["obligations"]},
        "progress": _object({"jsonrpc": {"const": "2.0"}, "method": {"const": "$/progress"}, "params": note}),
        "methods": {name: {"params": parameters(name), "answer": answer(RESULTS[name])} for name in METHODS},
    }
