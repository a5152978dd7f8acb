"""Reading logs: one module = one input format."""
