"""`hloproof lsp`: a client opens files, changes them, and is shown what a check says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from hloproof.cli import run
from hloproof.results.verdict import ClaimResult, Found, Verdict

pytest.importorskip("pygls")

WRONG = "rule halves\n  (x floordiv 2) floordiv 3 => x floordiv 5\n"


class Client:
    """Speaks the protocol over a process's standard streams."""

    def __init__(self) -> None:
        self.process = subprocess.Popen(
            [sys.executable, "-m", "hloproof", "lsp"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            env=dict(os.environ),
        )
        self._number = 0

    def send(self, method: str, params: Any, asks: bool = False) -> None:
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
        if asks:
            self._number += 1
            message["id"] = self._number
        body = json.dumps(message).encode()
        assert self.process.stdin is not None
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def next(self, wanted: str = "") -> dict[str, Any]:
        """The next answer, or the next notification of this method."""
        assert self.process.stdout is not None
        while True:
            length = 0
            while (line := self.process.stdout.readline().strip()) != b"":
                name, _, value = line.partition(b":")
                length = int(value) if name.lower() == b"content-length" else length
            message: dict[str, Any] = json.loads(self.process.stdout.read(length))
            if message.get("method", "") == wanted:
                return message

    def shown(self) -> list[tuple[int, int, int, str]]:
        """What is shown next: line, column, severity, message; lines and columns from 0."""
        found = self.next("textDocument/publishDiagnostics")["params"]["diagnostics"]
        return [
            (d["range"]["start"]["line"], d["range"]["start"]["character"], d["severity"], d["message"]) for d in found
        ]


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    c = Client()
    c.send("initialize", {"processId": None, "rootUri": None, "capabilities": {}}, asks=True)
    assert c.next()["result"]["serverInfo"]["name"] == "hloproof"
    c.send("initialized", {})
    yield c
    c.send("shutdown", None, asks=True)
    c.next()
    c.send("exit", None)
    assert c.process.wait(timeout=60) == 0
    for stream in (c.process.stdin, c.process.stdout):
        if stream is not None:
            stream.close()


def opened(client: Client, uri: str, text: str) -> None:
    document = {"uri": uri, "languageId": "plaintext", "version": 1, "text": text}
    client.send("textDocument/didOpen", {"textDocument": document})


def test_a_wrong_rule_is_shown_and_goes_when_it_is_mended(client: Client) -> None:
    uri = "file:///somewhere/mine.rules"
    opened(client, uri, WRONG)
    [(line, _, severity, said)] = client.shown()
    assert (line, severity) == (0, 1) and said.startswith("refuted: rule of halves")
    edit = {"range": {"start": {"line": 1, "character": 42}, "end": {"line": 1, "character": 43}}, "text": "6"}
    client.send("textDocument/didChange", {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [edit]})
    assert client.shown() == []


@pytest.mark.parametrize(
    ("name", "text", "line", "column", "said"),
    [
        ("m.hlo", "ENTRY e {\n  ROOT p = f32[4] parametr(0)\n}\n", 1, 18, "unknown opcode"),
        (
            "m.map",
            "map m\n  map (d0) -> (d0), domain: d0 in [0, 3]\n  becomes (d0) -> (0), domain: d0 in [0, 3]\n",
            2,
            2,
            "gives",
        ),
        ("m.layout", "layout m\n  shape f32[3,5]{1,0:T(2,2)}\n  padded 15\n", 0, 0, "padded is 24"),
    ],
)
def test_what_is_wrong_is_shown_at_its_place(
    client: Client, name: str, text: str, line: int, column: int, said: str
) -> None:
    opened(client, f"file:///somewhere/{name}", text)
    [(at, start, severity, message)] = client.shown()
    assert (at, start, severity) == (line, column, 1) and said in message


def test_nothing_is_shown_of_a_file_that_was_closed_while_it_was_checked(client: Client) -> None:
    rules = "".join(f"rule r{n}\n  (x floordiv {n}) floordiv 3 => x floordiv {3 * n + 1}\n" for n in range(2, 12))
    opened(client, "file:///somewhere/closed.rules", rules)
    client.send("textDocument/didClose", {"textDocument": {"uri": "file:///somewhere/closed.rules"}})
    opened(client, "file:///somewhere/next.rules", WRONG)
    assert client.shown() == []
    [(_, _, _, said)] = client.shown()
    assert said.startswith("refuted: rule of halves")


def test_what_was_found_of_a_text_before_it_was_changed_is_not_shown(client: Client) -> None:
    uri = "file:///somewhere/typed.rules"
    opened(
        client,
        uri,
        "".join(f"rule r{n}\n  (x floordiv {n}) floordiv 3 => x floordiv {3 * n + 1}\n" for n in range(2, 12)),
    )
    change = {"textDocument": {"uri": uri, "version": 2}, "contentChanges": [{"text": "rule r\n  x + 0 => x\n"}]}
    client.send("textDocument/didChange", change)
    assert client.shown() == []


def test_other_files_are_left_alone(client: Client) -> None:
    opened(client, "file:///somewhere/notes.md", "# notes")
    assert client.shown() == []


@pytest.mark.parametrize(("name", "is_read"), [("A.RULES", True), ("a.rules", True), ("a.rule", False)])
def test_a_suffix_in_capitals_is_one(name: str, is_read: bool) -> None:
    from hloproof.server.language import diagnostics

    assert bool(diagnostics(name, "rule a\n")) == is_read


def test_what_is_allowed_beside_the_text_is_not_shown() -> None:
    """As a check does: a finding that has a comment is none to tell, and a comment that allows nothing is."""
    from hloproof.server.language import diagnostics

    allowed = "# hloproof: allow rule because halves are thirds here\n"
    assert len(diagnostics("a.rules", WRONG)) == 1
    assert diagnostics("a.rules", allowed + WRONG) == []
    [found] = diagnostics("a.rules", allowed + "rule fine\n  x + 0 => x\n")
    assert "matches nothing" in found.message
    [other] = diagnostics("a.rules", allowed.replace("allow rule", "allow hazard") + "rule fine\n  x + 0 => x\n")
    assert "suppression of hazard" in other.message


def test_a_byte_order_mark_is_no_part_of_the_text() -> None:
    from hloproof.server.language import diagnostics

    assert diagnostics("a.rules", "\ufeff" + WRONG) == diagnostics("a.rules", WRONG)


def test_columns_are_counted_as_the_protocol_does() -> None:
    from hloproof.server.language import diagnostics

    [found] = diagnostics("m.hlo", "ENTRY e {\n  /* \U0001f600 */ ROOT p = f32[4] parametr(0)\n}\n")
    assert found.range.start.character == 27  # 26 signs, of which one takes two units


@pytest.mark.parametrize("verdict", Verdict)
def test_what_is_not_unknown_is_shown_as_an_error(verdict: Verdict) -> None:
    """An error of this tool too: it is no answer about the text."""
    from lsprotocol.types import DiagnosticSeverity

    from hloproof.server.language import _finding

    found = ClaimResult("a.rules#a", "rule", "a.rules", "", 1, 1, "a", Found(verdict, claim="rule"))
    shown = DiagnosticSeverity.Warning if verdict is Verdict.UNKNOWN else DiagnosticSeverity.Error
    assert _finding(found, ["rule a"]).severity == shown


def test_without_the_library_it_says_how_to_get_it(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.delitem(sys.modules, "hloproof.server.language", raising=False)
    monkeypatch.setitem(sys.modules, "pygls", None)
    monkeypatch.setitem(sys.modules, "lsprotocol", None)
    assert run(["lsp"]) == 2
    assert "hloproof[lsp]" in capsys.readouterr().err
    assert Path(__file__).exists()
