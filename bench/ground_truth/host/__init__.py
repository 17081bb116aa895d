"""Ground truth of a server's time: a service that knows of each call why it was late."""
