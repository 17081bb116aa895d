"""Contracts read from descriptor sets, as the engine makes them of .proto files."""

from wirelab.contracts.reading.contract import from_descriptors, list_methods

__all__ = ["from_descriptors", "list_methods"]
