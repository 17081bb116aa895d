"""What delayed which exchange, one module per kind of cause."""
