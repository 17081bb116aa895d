"""Why one cell is slower than another: ladders and rung effects, computed from records alone."""
