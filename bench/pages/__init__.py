"""Pages of the reference whose tables the bench writes."""
