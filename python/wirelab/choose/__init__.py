"""Which stack to take for a user's own message: plan, measurement and answer."""
