"""What a check found, written for readers and for machines."""
