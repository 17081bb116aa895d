"""Ground truth of captures that others made: packets with computed times, one conversation in each
capture. Nothing is played, so that waits may last minutes and no machine disturbs them."""
