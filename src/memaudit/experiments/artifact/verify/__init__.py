"""Checks of a finished reproduction: hashes, rows, documents, and a sample made again."""

from memaudit.experiments.artifact.verify.verify import verify_all

__all__ = ["verify_all"]
