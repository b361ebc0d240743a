"""Modules as protocol buffers (`*.hlo.pb`), read by the tables here: no generated code, no library."""
