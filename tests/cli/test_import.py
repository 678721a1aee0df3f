"""`memaudit import`: what it prints, what it writes, and how it fails."""

import json
from pathlib import Path

from memaudit.cli.import_store import named_fields
from memaudit.kernel.io.store_file import read_store, store_digest
from tests.cli.running import done, failure, printed_json
from tests.stores.exports import EXPORTS


def test_account(tmp_path: Path) -> None:
    """The guess, the rows, the states, every warning, and where it was written; of documents how
    many lines and entries each block has: three lines, the second one blank; one line."""
    path, out = EXPORTS["letta passages"].write(tmp_path), tmp_path / "store.json"
    result = done("import", path, "--out", out)
    store = read_store(out)
    assert result.output.splitlines() == [
        "export  format letta (guessed from the content), view entries",
        "        3  rows read",
        "        1  active memories",
        "        1  deleted",
        "        1  skipped: passage of an attached file, not a memory",
        *(f"warning: {warning}" for warning in store.warnings),
        f"wrote {out}  sha256 {store_digest(store)}",
    ]
    path = EXPORTS["letta agent file"].write(tmp_path)
    lines = done("import", path, "--out", tmp_path / "blocks.json").stdout.splitlines()
    assert [line.strip() for line in lines[1:6]] == [
        "4  rows read",
        "3  active memories",
        "1  skipped: empty text",
        "3  lines of block-0, 2 entries",
        "1  lines of block-1, 1 entry",
    ]
    (tmp_path / "e.json").write_text('{"results": []}')
    result = done("import", tmp_path / "e.json", "--out", tmp_path / "s.json")
    assert "the store is empty" in result.stdout
    assert read_store(tmp_path / "s.json").memories == ()


def test_format_before_the_path(tmp_path: Path) -> None:
    path, out = EXPORTS["amem notes"].write(tmp_path), tmp_path / "store.json"
    data = printed_json("import", "amem", path, "--view", "metadata", "--out", out)
    assert (data["origin"]["guessed"], data["origin"]["view"]) == (False, "metadata")
    assert (data["active"], data["digest"]) == (2, store_digest(read_store(out)))


def test_failures(tmp_path: Path) -> None:
    path, out = EXPORTS["mem0"].write(tmp_path), tmp_path / "s.json"
    (tmp_path / "bad.json").write_text('{"detail": "Invalid API key"}')
    cases = {
        "error: mem1: is neither a file nor a format; known formats: mem0,": ("mem1", path),
        "error: no.json: does not exist": (tmp_path / "no.json",),
        "error: bad.json: is the error of an API": (tmp_path / "bad.json",),
        "error: mem0 has no view 'full'": (path, "--view", "full"),
        "error: --as-of 'later' is not a time": (path, "--as-of", "later"),
    }
    for message, arguments in cases.items():
        assert failure("import", *arguments, "--out", out).startswith(message)
    assert not out.exists()
    assert "is the export itself; write" in failure("import", path, "--out", path)


def test_fields_of_any_file(tmp_path: Path) -> None:
    rows = [
        {"body": "a", "at": {"t": "2025-01-01"}, "nr": 7, "who": "ann"},
        {"body": "b", "at": {"t": "2025-01-02"}, "nr": 8, "who": "bo"},
    ]
    path, out = tmp_path / "e.json", tmp_path / "s.json"
    path.write_text(json.dumps(rows))
    assert "its fields are body, at.t, nr, who: say" in failure("import", path, "--out", out)
    fields = "time=at.t,id=nr,namespace=who"
    words = ("--namespace", "bo", "--out", out)
    done("import", path, "--fields", f"text=body,{fields}", *words)
    (memory,) = read_store(out).memories
    assert (memory.id, memory.text, memory.created_at) == ("8", "b", "2025-01-02")
    assert "needs text=FIELD" in failure("import", path, "--fields", fields, *words)
    for wrong in ("body", "text=", "text=body,text=nr", "text=body,user=who "):
        line = failure("import", path, "--fields", wrong, *words)
        assert "is not one of text=FIELD" in line or "no row has the field" in line
    assert named_fields("text=a,b,id=c=d") == {"text": "a,b", "id": "c=d"}
