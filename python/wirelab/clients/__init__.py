"""One load that several engines make together, on one machine or on the nodes of a Ray cluster."""
