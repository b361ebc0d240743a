"""A client of `hloproof serve` in a page: requests side by side, progress, cancelling. Python 3.11, nothing else.

python client.py hloproof serve
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future
from itertools import count
from typing import Any


class Failed(Exception):
    """The server answered with an error: `code`, and `data` with `kind`, and `line` and `column` where there are."""

    def __init__(self, error: dict[str, Any]) -> None:
        super().__init__(error["message"])
        self.code, self.data = error["code"], error["data"]


class Client:
    """A server of one's own. Futures are done in any order; a thread reads what comes."""

    def __init__(self, command: list[str]) -> None:
        self.server = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.numbers, self.lock = count(1), threading.Lock()
        self.waiting: dict[int, tuple[Future[Any], Callable[[dict[str, Any]], None] | None]] = {}
        threading.Thread(target=self._read, daemon=True).start()

    def ask(
        self, method: str, progress: Callable[[dict[str, Any]], None] | None = None, **params: Any
    ) -> tuple[int, Future[Any]]:
        """The request's id, for `cancel`, and its result to come."""
        number, future = next(self.numbers), Future[Any]()
        self.waiting[number] = future, progress
        more = {"progress": True} if progress else {}
        self._send({"id": number, "method": method, "params": {**params, **more}})
        return number, future

    def call(self, method: str, **params: Any) -> Any:
        """The result, waited for. Raises Failed."""
        return self.ask(method, **params)[1].result()

    def cancel(self, number: int) -> None:
        self._send({"method": "$/cancel", "params": {"id": number}})

    def close(self) -> int:
        """End the server when it has answered everything; its status."""
        self.call("shutdown")
        return self.server.wait()

    def _send(self, message: dict[str, Any]) -> None:
        assert self.server.stdin is not None
        with self.lock:
            self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
            self.server.stdin.flush()

    def _read(self) -> None:
        assert self.server.stdout is not None
        for line in self.server.stdout:
            message = json.loads(line)
            if message.get("method") == "$/progress":
                _, progress = self.waiting.get(message["params"]["id"], (None, None))
                if progress is not None:
                    progress(message["params"])
            elif message["id"] in self.waiting:
                future, _ = self.waiting.pop(message["id"])
                if "error" in message:
                    future.set_exception(Failed(message["error"]))
                else:
                    future.set_result(message["result"])
        for future, _ in self.waiting.values():
            future.set_exception(EOFError("the server has ended"))


MAP = "(d0) -> (d0 mod 4), domain: d0 in [0, 3]"


def main() -> None:
    client = Client(sys.argv[1:])
    print("protocol", client.call("version")["protocol"])
    _, one = client.ask("simplify", map=MAP)
    number, two = client.ask("simplify", map=MAP)
    client.cancel(number)
    print("simplified", one.result()["map"].splitlines()[0])
    try:
        print("the other", two.result()["verdict"])
    except Failed as error:
        print("the other", error.data["kind"])
    try:
        client.call("parse_map", map="(d0) -> (d1), domain: d0 in [0, 9]")
    except Failed as error:
        print("wrong at column", error.data["column"])
    print("status", client.close())


if __name__ == "__main__":
    main()
