"""Programs that write parts of this repository from what runs."""
