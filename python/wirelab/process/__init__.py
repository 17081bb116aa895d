"""Processes of the lab and what they need: engine, services, builds, namespaces, control groups."""
