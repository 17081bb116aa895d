"""What a trial starts and ends: link, service with its store, captures, recording of the host."""
