"""`memaudit verify`: valid, refused, and files that are no certificates."""

import json
from pathlib import Path
from typing import Any

import pytest

from tests.cli.running import done, failure, printed_json, run


@pytest.fixture
def certificate(tiny_file: Path, tmp_path: Path) -> Path:
    """Of the tiny package at budget 3."""
    path = tmp_path / "certificate.json"
    done("solve", tiny_file, "--budget", 3, "--certificate", path)
    return path


def altered(path: Path, **changes: Any) -> Path:
    copy = path.with_name("altered.json")
    copy.write_text(json.dumps({**json.loads(path.read_text()), **changes}))
    return copy


def test_written_then_verified(tiny_file: Path, certificate: Path) -> None:
    """What solve wrote holds; JSON is a list of objects, also for one certificate. All of a
    list are checked; one refusal fails the command."""
    result = done("verify", tiny_file, certificate)
    assert result.stdout.startswith("VALID  tiny, budget 3, group cap 1, value 3, ")
    assert result.stdout.rstrip().endswith(" s")
    (check,) = printed_json("verify", tiny_file, certificate)
    assert (check["package"], check["valid"], check["reason"]) == ("tiny", True, "")
    assert (check["budget"], check["value"], check["value_exact"]) == (3, 3.0, "3")
    assert check["leaves"] >= 1
    good = json.loads(certificate.read_text())
    certificate.write_text(json.dumps([good, {**good, "value": "9"}, good]))
    result = run("verify", tiny_file, certificate)
    assert result.exit_code == 1
    assert [line.split()[0] for line in result.stdout.splitlines()] == ["VALID", "REFUSED", "VALID"]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"value": "4"}, "the store is worth 3, not 4"),
        ({"package": "0" * 64}, "the certificate is for another package"),
    ],
)
def test_refusals(tiny_file: Path, certificate: Path, changes: dict[str, Any], reason: str) -> None:
    result = run("verify", tiny_file, altered(certificate, **changes))
    assert result.exit_code == 1
    assert result.stdout.startswith("REFUSED  ")
    assert reason in result.stdout
    assert len(result.stdout.splitlines()) == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b'{"format": ', "is not valid JSON: Expecting value at line 1, column 12"),
        (b"[" * 200_000, "nests too deeply"),
        (b"[]", "holds no certificate"),
        (b"[" + b"9" * 100_000 + b"]", "holds a number of too many digits"),
        (b"{}", "not a certificate: format is not 'memaudit-certificate'"),
        (b'{"format": "memaudit-certificate", "version": 7}', "version 7 is not 1"),
        (b'{"format": "memaudit-certificate", "version": 1}', "malformed certificate"),
        (b'{"a": 1, "a": 2}', "the key 'a' appears twice"),
        (b'{"proof": [1.5]}', "contains the number 1.5"),
        (b"\xc3\x28", "is not UTF-8"),
    ],
    ids=lambda value: repr(value[:24]),
)
def test_files_that_are_no_certificates(
    tiny_file: Path, tmp_path: Path, content: bytes, message: str
) -> None:
    path = tmp_path / "c.json"
    path.write_bytes(content)
    line = failure("verify", tiny_file, path)
    assert line.startswith(f"error: {path}")
    assert message in line


def test_paths_that_are_no_files(tiny_file: Path, tmp_path: Path) -> None:
    for path, problem in ((tmp_path / "no", "does not exist"), (tmp_path, "is a folder")):
        assert failure("verify", tiny_file, path) == f"error: {path} {problem}"
