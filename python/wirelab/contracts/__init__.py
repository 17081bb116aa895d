"""Contracts made from a user's own message: schema, varied values, and their bytes per codec."""
