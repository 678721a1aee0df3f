"""Checks of a finished reproduction: nothing in the folder is trusted."""

from memaudit.experiments.artifact.verify.verify import Effort, verify_all

__all__ = ["Effort", "verify_all"]
