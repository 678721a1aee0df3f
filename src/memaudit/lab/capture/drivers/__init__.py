"""Scripts that run inside a memory system's own environment; nothing here imports MemAudit."""
