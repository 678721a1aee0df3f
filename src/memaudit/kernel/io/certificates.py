"""Certificates on disk: one JSON object, or a list of them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from memaudit.kernel.errors import InvalidCertificate, InvalidPackage, MemAuditError
from memaudit.kernel.io.atomic import write_file
from memaudit.kernel.io.files import decode, read_bytes
from memaudit.kernel.io.strict_json import RefusedJson, unique_keys
from memaudit.kernel.package.optimum import Certificate

MAX_BYTES = 1 << 28
"""Larger files are refused."""

TOO_LONG = "a number of too many digits"


def _no_float(text: str) -> Any:
    raise RefusedJson(
        f"it contains the number {text[:40]}, but certificates have only whole numbers"
    )


def _parse(text: str) -> Any:
    try:
        return json.loads(
            text, parse_float=_no_float, parse_constant=_no_float, object_pairs_hook=unique_keys
        )
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, column {error.colno}"
        message = error.msg.removesuffix(" at")
        raise RefusedJson(f"it is not valid JSON: {message} at {place}") from None
    except RecursionError:
        raise RefusedJson("it nests too deeply for a certificate") from None
    except RefusedJson:
        raise
    except ValueError:  # int() refuses numbers that take forever to read
        raise RefusedJson(f"it holds {TOO_LONG}") from None


def read_certificates(path: Path) -> list[Certificate]:
    """Every certificate in a file; anything else is refused with one line."""
    try:
        data = _parse(decode(read_bytes(path, MAX_BYTES), path.name))
    except InvalidPackage as error:
        raise InvalidCertificate(f"{path} {error.problems[0].message}") from None
    except RefusedJson as error:
        raise InvalidCertificate(f"{path} is not a certificate: {error}") from None
    entries = data if isinstance(data, list) else [data]
    if not entries:
        raise InvalidCertificate(f"{path} holds no certificate")
    return [_certificate(entry, path, number) for number, entry in enumerate(entries, start=1)]


def _certificate(entry: Any, path: Path, number: int) -> Certificate:
    try:
        return Certificate.from_json(entry)
    except InvalidCertificate as error:
        raise InvalidCertificate(f"{path}, certificate {number}: {error}") from None


def write_certificates(certificates: Sequence[Certificate], path: Path) -> None:
    """One object for one certificate, a list for any other number of them."""
    try:
        data: Any = [certificate.to_json() for certificate in certificates]
        text = json.dumps(data[0] if len(data) == 1 else data, separators=(",", ":"))
    except ValueError:  # Python does not write numbers of more than 4300 digits
        raise MemAuditError(f"cannot write {path}: it would hold {TOO_LONG}") from None
    write_file(path, text + "\n")
