"""Shows many runs in a browser: their list, their state while they run, their reports, and
comparisons. Nothing here writes into a run directory or starts a trial."""
