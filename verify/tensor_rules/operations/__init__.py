"""What each operation means when sizes are symbols; see table.py."""
