"""The JSON objects MemAudit writes beside its rows, read back: manifests, specs and summaries."""

import json
from pathlib import Path
from typing import Any

from memaudit.core.errors import InvalidPackage, MemAuditError
from memaudit.io.files import read_text


def read_object(path: Path, remedy: str) -> dict[str, Any]:
    """The object in a file; one line about why there is none, which ends with the remedy."""
    try:
        data = json.loads(read_text(path))
    except InvalidPackage as error:
        raise MemAuditError(f"cannot read {path}: it {error.problems[0].message}") from None
    except RecursionError:
        raise MemAuditError(f"{path} nests too deeply; {remedy}") from None
    except ValueError:
        raise MemAuditError(f"{path} is not JSON; {remedy}") from None
    if not isinstance(data, dict):
        raise MemAuditError(f"{path} holds no JSON object; {remedy}")
    return data
