"""Ground truth of waits that no system call shows: both sides follow a script."""
