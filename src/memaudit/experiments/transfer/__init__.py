"""Package-style writing against raw stores on annotated conversations: a transfer diagnostic."""
