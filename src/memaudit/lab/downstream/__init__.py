"""After writing: what is retrieved, what is answered, and which layer lost the answer."""
