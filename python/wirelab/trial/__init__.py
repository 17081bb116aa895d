"""One trial: its record, and its execution, placement, link and packet captures."""
