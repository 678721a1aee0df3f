"""The name of the distribution, and the version of the code that runs."""

DISTRIBUTION = "memaudit-oracle"
"""As in pyproject.toml. On the package index, the name `memaudit` belongs to another project."""

VERSION = "0.2.0"
"""Of this code, installed or not; pyproject.toml takes it from here."""
