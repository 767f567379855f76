"""Reading tool calls out of whatever a model wrote."""
