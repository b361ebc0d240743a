"""Rewrite rules over tensors, proved for every size: what operations mean for symbolic sizes, the proof, the replay."""
