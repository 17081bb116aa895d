"""Published studies: their claims and figures, and how both are compared with measured trials."""
