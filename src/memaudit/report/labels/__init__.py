"""Label audits as a page."""

from memaudit.report.labels.page import build_page, write_page
from memaudit.report.labels.tables import LabelAudit, read_audit

__all__ = ["LabelAudit", "build_page", "read_audit", "write_page"]
