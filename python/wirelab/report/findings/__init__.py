"""What a run found: rankings of stacks and the sentences on them."""
