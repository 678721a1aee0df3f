"""Label audits as a page, and as a section of a run's report."""

from memaudit.report.labels.page import build_page, write_page
from memaudit.report.labels.tables import LabelAudit, read_audit

__all__ = ["LabelAudit", "build_page", "read_audit", "write_page"]
