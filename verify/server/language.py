"""`hloproof lsp`: a language server that shows findings in rules, maps, layouts and modules while one types.

The protocol is pygls'; what is shown is what `hloproof check` says of the text, within a few seconds. Checks run one at
a time, in a thread of their own, and only for the newest text.
"""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from pathlib import PurePosixPath
from typing import Final

from lsprotocol import types
from pygls.lsp.server import LanguageServer
from pygls.workspace import TextDocument

from hloproof.models.line_ends import with_line_ends
from hloproof.pipeline.driver import check_text
from hloproof.pipeline.options import Options
from hloproof.pipeline.sources import SUFFIXES
from hloproof.results.findings import Policy, judge
from hloproof.results.results import Comment, FileResults, Report
from hloproof.results.subject import about_reading
from hloproof.results.verdict import ClaimResult, Verdict
from hloproof.version import VERSION

_PAUSE: Final = 0.3
"""Seconds without a change before a text is checked."""
_SECONDS: Final = 10.0
"""For one check; what is not decided then is shown as unknown."""


def diagnostics(name: str, text: str) -> list[types.Diagnostic]:
    """What a check says of a text; nothing for a file of no known kind. Lines count from 0, as the protocol has it."""
    kind = SUFFIXES.get(PurePosixPath(name).suffix.lower())
    if kind is None:
        return []
    text = text.removeprefix("\ufeff")  # a byte order mark is no part of the text
    lines = with_line_ends(text).split("\n")
    found = check_text(name, kind, text, Options(total_seconds=_SECONDS), here=True)
    judged = judge(Report([found]), Policy(comments=found.suppressions))
    return [*_problems(found, lines), *(_finding(f.record, lines) for f in judged.new), *_stale(judged.stale, lines)]


def _problems(found: FileResults, lines: list[str]) -> list[types.Diagnostic]:
    error = types.DiagnosticSeverity.Error
    return [
        types.Diagnostic(_range(p.line, p.column, lines), p.message, error, source="hloproof") for p in found.problems
    ]


def _stale(comments: list[Comment], lines: list[str]) -> list[types.Diagnostic]:
    """What is allowed beside the text and is not there, as a check says it."""
    said = {c: f"this suppression of {', '.join(c.claims)} matches nothing" for c in comments}
    level = types.DiagnosticSeverity.Warning
    return [types.Diagnostic(_range(c.line, 1, lines), said[c], level, source="hloproof") for c in comments]


def _finding(r: ClaimResult, lines: list[str]) -> types.Diagnostic:
    levels = types.DiagnosticSeverity
    level = levels.Error if r.verdict is not Verdict.UNKNOWN else levels.Hint if about_reading(r) else levels.Warning
    said = f"{r.verdict}: {r.claim} of {r.instruction}: {r.counterexample or r.reason or ''}"
    return types.Diagnostic(_range(r.line, r.column, lines), said, level, code=r.claim, source="hloproof")


def _range(line: int, column: int, lines: list[str]) -> types.Range:
    """From a place to the end of its line, in the units of the protocol (UTF-16)."""
    row = max(0, min(line, len(lines)) - 1)
    text = lines[row] if lines else ""
    start, end = (len(text[:n].encode("utf-16-le")) // 2 for n in (max(0, column - 1), len(text)))
    return types.Range(types.Position(row, min(start, end)), types.Position(row, end))


def make_server() -> LanguageServer:
    """The server, ready to be started."""
    server = LanguageServer("hloproof", VERSION, text_document_sync_kind=types.TextDocumentSyncKind.Incremental)
    one_at_a_time = ThreadPoolExecutor(1)

    async def show(uri: str, pause: float) -> None:
        document: TextDocument = server.workspace.get_text_document(uri)
        version = document.version
        await asyncio.sleep(pause)
        if document.version != version or server.workspace.text_documents.get(uri) is not document:
            return  # a newer text is on its way, or the file was closed
        loop = asyncio.get_running_loop()
        found = await loop.run_in_executor(one_at_a_time, diagnostics, document.path, document.source)
        # Of a file that was closed meanwhile nothing is shown, be it open again: that is another document.
        if document.version == version and server.workspace.text_documents.get(uri) is document:
            server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(uri, found, version))

    async def opened(given: types.DidOpenTextDocumentParams) -> None:
        await show(given.text_document.uri, 0)

    async def changed(given: types.DidChangeTextDocumentParams) -> None:
        await show(given.text_document.uri, _PAUSE)

    def closed(given: types.DidCloseTextDocumentParams) -> None:
        server.text_document_publish_diagnostics(types.PublishDiagnosticsParams(given.text_document.uri, []))

    server.feature(types.TEXT_DOCUMENT_DID_OPEN)(opened)
    server.feature(types.TEXT_DOCUMENT_DID_CHANGE)(changed)
    server.feature(types.TEXT_DOCUMENT_DID_CLOSE)(closed)
    return server
