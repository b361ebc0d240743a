"""What engines raise when they end without an answer."""

from __future__ import annotations


class GaveUp(Exception):
    """The engine ended without an answer; the text says which limit was reached. Nothing is known."""


class NotExpressible(GaveUp):
    """The obligation is outside what this engine can be asked."""


class OutOfMemory(GaveUp):
    """The engine ran into a limit of memory: another run may do better."""
