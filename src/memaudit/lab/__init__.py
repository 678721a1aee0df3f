"""Local pages over reports and audits: served on loopback only, behind a token."""
