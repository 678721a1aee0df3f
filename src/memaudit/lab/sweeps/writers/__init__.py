"""Writers decide what to keep. One family per file; the registry is a plain dict."""
