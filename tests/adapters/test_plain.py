"""The plain format takes what nothing else does, but not everything."""

from pathlib import Path

import pytest

from memaudit.adapters.importing import import_store
from memaudit.core.errors import MemAuditError


@pytest.mark.parametrize("text", ["null", "5", "Internal Server Error"])
def test_a_stray_json_file_is_no_memory(text: str, tmp_path: Path) -> None:
    """A saved error page must not become a store of one memory."""
    (tmp_path / "export.json").write_text(text)
    with pytest.raises(MemAuditError, match="no known format"):
        import_store([tmp_path / "export.json"])
