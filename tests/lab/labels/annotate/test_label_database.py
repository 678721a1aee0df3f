"""The store of decisions: append only, undo, two writers at once, and files that are not ours."""

import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.labels import LABEL_NAMES, Label
from memaudit.lab.labels.annotate.labelling import Decision, LabelDatabase
from memaudit.lab.labels.frame import LabelSet

DIGEST = "d" * 64


def clock() -> Callable[[], str]:
    seconds = count()
    return lambda: f"2026-05-01T12:00:{next(seconds):02}.000+00:00"


@pytest.fixture
def store(tmp_path: Path) -> Iterator[LabelDatabase]:
    found = LabelDatabase(tmp_path / "labels.sqlite", DIGEST, 9, clock())
    yield found
    found.close()


def test_the_last_decision_stands(store: LabelDatabase) -> None:
    store.decide("ann", "c1", "full", "sure")
    store.decide("ann", "c2", "none", "")
    store.decide("ben", "c1", "none", "")
    store.decide("ann", "c1", "partial", "")
    assert store.standing("ann") == {
        "c2": Decision("none", "", "2026-05-01T12:00:01.000+00:00"),
        "c1": Decision("partial", "", "2026-05-01T12:00:03.000+00:00"),
    }
    assert list(store.standing("ann")) == ["c2", "c1"]  # in the order of the last decisions
    assert store.label_set("ben") == LabelSet("ben", {"c1": "none"}, {})
    assert store.annotators() == {"ann": 2, "ben": 1}


def test_rows_are_only_added(store: LabelDatabase, tmp_path: Path) -> None:
    store.decide("ann", "c1", "full", "")
    store.decide("ann", "c1", "none", "why")
    store.undo("ann")
    store.undo("ann")
    with sqlite3.connect(tmp_path / "labels.sqlite") as link:
        rows = link.execute("SELECT id, cell_id, label, note, at, undoes FROM decisions").fetchall()
        assert link.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    link.close()
    time = "2026-05-01T12:00:0{}.000+00:00"
    assert rows == [
        (1, "c1", "full", "", time.format(0), None),
        (2, "c1", "none", "why", time.format(1), None),
        (3, "c1", "full", "", time.format(2), 2),
        (4, "c1", None, "", time.format(3), 1),
    ]


def test_a_saved_label_is_on_disk(store: LabelDatabase) -> None:
    """Every commit is synced, not left to the system: FULL is 2."""
    assert store.rows("PRAGMA synchronous") == [(2,)]


def test_undo_across_cells(store: LabelDatabase) -> None:
    store.decide("ann", "c1", "full", "")
    store.decide("ben", "c9", "full", "")
    store.decide("ann", "c2", "none", "")
    assert [store.undo("ann"), store.undo("ann"), store.undo("ann")] == ["c2", "c1", None]
    assert store.label_set("ann").labels == {}
    store.decide("ann", "c3", "full", "")
    assert store.undo("ann") == "c3"
    assert store.label_set("ben").labels == {"c9": "full"}


def test_a_note_outlives_its_label(store: LabelDatabase) -> None:
    store.draft("ann", "c1", "th")
    store.draft("ann", "c1", "thinking")
    assert store.draft_note("ann", "c1") == "thinking"
    store.decide("ann", "c1", "full", "thinking")
    assert store.draft_note("ann", "c1") is None
    store.undo("ann")
    assert store.draft_note("ann", "c1") == "thinking"
    assert store.draft_note("ben", "c1") is None
    store.decide("ann", "c1", "none", "thinking")
    assert store.label_set("ann") == LabelSet("ann", {"c1": "none"}, {"c1": "thinking"})


ACTIONS = st.one_of(
    st.tuples(st.sampled_from("ABC"), st.sampled_from(LABEL_NAMES), st.text("ab", max_size=2)),
    st.none(),
)


@settings(max_examples=40)
@given(st.lists(ACTIONS, max_size=25))
def test_undo_is_a_stack(actions: list[tuple[str, Label, str] | None]) -> None:
    with TemporaryDirectory() as folder:
        store = LabelDatabase(Path(folder) / "labels.sqlite", DIGEST, 3)
        store.rows("PRAGMA synchronous = OFF")  # only here: hundreds of stores
        kept = replay(store, actions)
        labels = store.label_set("ann")
        store.close()
    standing = {cell: (label, note) for cell, label, note in kept}
    assert labels.labels == {cell: label for cell, (label, _) in standing.items()}
    assert labels.notes == {cell: note for cell, (_, note) in standing.items() if note}


def replay(
    store: LabelDatabase, actions: list[tuple[str, Label, str] | None]
) -> list[tuple[str, Label, str]]:
    kept: list[tuple[str, Label, str]] = []
    for action in actions:
        if action is None:
            assert store.undo("ann") == (kept.pop()[0] if kept else None)
        else:
            store.decide("ann", *action)
            kept.append(action)
    return kept


WRITER = """
import sys
from pathlib import Path
from memaudit.lab.labels.annotate.labelling import LabelDatabase
path, annotator = Path(sys.argv[1]), sys.argv[2]
store = LabelDatabase(path, "d" * 64, 9)
print("ready", flush=True)
sys.stdin.readline()
for number in range(60):
    store.draft(annotator, f"c{number}", "note")
    store.decide(annotator, f"c{number}", "full" if number % 2 else "none", str(number))
    if number % 10 == 9:
        store.undo(annotator)
store.close()
"""


def test_two_processes_write_at_once(tmp_path: Path) -> None:
    path = tmp_path / "labels.sqlite"
    writers = [
        subprocess.Popen(
            [sys.executable, "-c", WRITER, str(path), name],
            text=True,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for name in ("ann", "ben")
    ]
    for writer in writers:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "ready\n"
    for writer in writers:
        assert writer.stdin is not None
        writer.stdin.write("go\n")
        writer.stdin.flush()
    assert [writer.communicate(timeout=60)[1] for writer in writers] == ["", ""]
    store = LabelDatabase(path, DIGEST, 9)
    for name in ("ann", "ben"):
        expected = {f"c{n}": "full" if n % 2 else "none" for n in range(60) if n % 10 != 9}
        assert store.label_set(name).labels == expected
        assert store.label_set(name).notes == {cell: cell[1:] for cell in expected}
    assert store.rows("SELECT count(*) FROM decisions") == [(132,)]
    store.close()


def refusal(path: Path, digest: str = DIGEST, must_exist: bool = False) -> str:
    with pytest.raises(MemAuditError) as caught:
        LabelDatabase(path, digest, 9, must_exist=must_exist, patience=0.05)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_labels_of_another_frame(store: LabelDatabase, tmp_path: Path) -> None:
    store.decide("ann", "c1", "full", "")
    line = refusal(tmp_path / "labels.sqlite", "e" * 64)
    assert "labels of another frame (9 cells, digest dddddddddddd; this one has 9, " in line
    assert line.endswith("eeeeeeeeeeee); give another --labels")
    assert store.label_set("ann").labels == {"c1": "full"}


def test_a_file_that_is_not_ours(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "other.sqlite") as link:
        link.execute("CREATE TABLE songs (name TEXT)")
    link.close()
    before = (tmp_path / "other.sqlite").read_bytes()
    assert "belongs to another program" in refusal(tmp_path / "other.sqlite")
    assert (tmp_path / "other.sqlite").read_bytes() == before
    (tmp_path / "text").write_text("no database " * 100)
    assert "file is not a database" in refusal(tmp_path / "text")
    assert "it is a folder" in refusal(tmp_path)
    assert "no labels here yet" in refusal(tmp_path / "none", must_exist=True)
    assert not (tmp_path / "none").exists()


def test_a_damaged_file(store: LabelDatabase, tmp_path: Path) -> None:
    for number in range(300):
        store.decide("ann", f"c{number}", "full", "x" * 100)
    store.close()
    path = tmp_path / "labels.sqlite"
    data = bytearray(path.read_bytes())
    assert len(data) > 40_000
    data[20_000:30_000] = b"\xa5" * 10_000
    path.write_bytes(data)
    assert "labels.sqlite: is damaged (" in refusal(path)


def test_a_file_that_is_held(store: LabelDatabase, tmp_path: Path) -> None:
    path = tmp_path / "labels.sqlite"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    assert "database is locked; is another program holding it?" in refusal(path)
    impatient = store._connection
    impatient.execute("PRAGMA busy_timeout = 20")
    with pytest.raises(MemAuditError, match="database is locked"):
        store.decide("ann", "c1", "full", "")
    holder.execute("ROLLBACK")
    holder.close()
    store.decide("ann", "c1", "full", "")
    assert store.label_set("ann").labels == {"c1": "full"}
