"""Work in processes that can be killed: one process, a pool of them, and what isolates them from a scanned folder."""
