"""Writers: who decides what to keep. One writer a file; the registry is a plain dict."""
