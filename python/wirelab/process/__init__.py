"""Processes and what they need: engine, services, builds, namespaces, control groups."""
