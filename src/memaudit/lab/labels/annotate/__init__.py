"""The labelling page. Cells are shown blind. Every decision is saved before the next cell."""
