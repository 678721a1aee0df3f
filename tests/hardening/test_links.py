"""Links, pipes and devices where a command writes, a folder that a killed process had begun to
replace, and several processes that write to one place."""

import os
import stat
import subprocess
import sys
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io import atomic
from memaudit.kernel.io.atomic import exchange, write_file, write_folder
from memaudit.kernel.io.packages import read_packages
from memaudit.workspace.journal import Journal
from tests.cli.running import done, failure, run
from tests.hardening.box import ROOT
from tests.lab.labels.annotate.small_frames import frame_folder

PRECIOUS = "precious\n"

SPECIAL: dict[str, Callable[[Path, Path], object]] = {
    "link": lambda place, target: place.symlink_to(target),
    "pipe": lambda place, _: os.mkfifo(place),
}

RUN = ("run --packages base --seeds 2 --budgets 2 --writers gvt", "--set engine.name=serial --out")
DIAGNOSE = (
    "diagnose event_graph:experiences=14:seeds=0-1 --budget 0.1 --writer gvt",
    "--retriever bm25 --out",
)


@pytest.fixture
def target(tmp_path: Path) -> Path:
    place = tmp_path / "precious.txt"
    place.write_text(PRECIOUS)
    return place


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize(
    ("command", "name"),
    [
        (RUN, "rows.jsonl"),
        (RUN, ".lock"),
        (RUN, "summary.json"),
        (DIAGNOSE, "rows.jsonl"),
        (DIAGNOSE, ".lock"),
        (DIAGNOSE, "summary.json"),
    ],
    ids=lambda value: value if isinstance(value, str) else value[0],
)
def test_a_file_of_a_run_folder(
    command: tuple[str, ...], name: str, kind: str, tmp_path: Path, target: Path
) -> None:
    """A run that was made elsewhere may hold anything: it is refused, nothing is changed."""
    out = tmp_path / "out"
    done(*command, out)
    (out / name).unlink(missing_ok=True)
    SPECIAL[kind](out / name, target)
    result = run(*command, out)
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1].startswith(f"error: cannot write {out / name}: it is ")
    assert target.read_text() == PRECIOUS
    assert not stat.S_ISREG((out / name).lstat().st_mode)


def test_a_hard_link_in_place_of_the_rows(tmp_path: Path, target: Path) -> None:
    os.link(target, tmp_path / "rows.jsonl")
    with pytest.raises(MemAuditError, match="it is a hard link"), Journal(tmp_path / "rows.jsonl"):
        pass
    assert target.read_text() == PRECIOUS


@pytest.mark.parametrize("kind", SPECIAL)
@pytest.mark.parametrize("ending", ["", "-wal", "-shm", "-journal"])
def test_a_label_database(ending: str, kind: str, tmp_path: Path, target: Path) -> None:
    """And what SQLite writes beside it."""
    folder = frame_folder(tmp_path / "frame", 3)
    place = folder / f"labels.sqlite{ending}"
    SPECIAL[kind](place, target)
    line = failure("label", "annotate", folder, "--annotator", "ann", "--no-browser")
    assert line.startswith(f"error: cannot write {place}: it is ")
    assert target.read_text() == PRECIOUS
    assert sorted(path.name for path in folder.glob("labels*")) == [place.name]


def test_what_is_overwritten_keeps_its_mode(tmp_path: Path) -> None:
    """A file that only its owner may read does not become readable for all, nor a folder."""
    for mode in (0o600, 0o640, 0o444, 0o664):
        file = tmp_path / f"{mode}"
        file.write_text("old")
        file.chmod(mode)
        write_file(file, "new")
        assert (file.read_text(), stat.S_IMODE(file.stat().st_mode)) == ("new", mode)
    path = tmp_path / "f"
    write_folder(path, {"a": "old", "b": "old"}, ())
    path.chmod(0o700)
    (path / "a").chmod(0o600)
    write_folder(path, {"a": "new", "b": "new"}, ("a", "b"))
    modes = [stat.S_IMODE(one.stat().st_mode) for one in (path, path / "a", path / "b")]
    os.umask(umask := os.umask(0))
    assert modes == [0o700, 0o600, 0o666 & ~umask]
    assert (path / "a").read_text() == "new"


def test_a_link_to_a_folder(tmp_path: Path) -> None:
    """A folder that is replaced as a whole is not a link; one that files are put into may be."""
    write_folder(tmp_path / "real", {"a": "old"}, ())
    (tmp_path / "link").symlink_to("real")
    with pytest.raises(MemAuditError, match="it is a link; give the path that it leads to"):
        write_folder(tmp_path / "link", {"a": "new"}, ("a",))
    assert (tmp_path / "real" / "a").read_text() == "old"
    write_file(tmp_path / "link" / "a", "new")
    assert (tmp_path / "real" / "a").read_text() == "new"
    assert (tmp_path / "link").is_symlink()


BUILD = """
import sys
from pathlib import Path
from memaudit.kernel.errors import MemAuditError
from memaudit.building.build_folder import build_into
from memaudit.building.build_folder import BuildJob
talks, out, rule = sys.argv[1:]
sys.stdout.write("ready\\n"); sys.stdout.flush(); sys.stdin.readline()
try:
    build_into(BuildJob(Path(talks), cost_rule=rule), Path(out))
except MemAuditError as error:
    sys.exit(f"error: {error}")
"""


def test_two_builds_at_once(tmp_path: Path) -> None:
    """With different options into one folder: one of them says that it lost."""
    shipped = files("memaudit.examples").joinpath("natural/conversations.jsonl")
    (tmp_path / "talks.jsonl").write_text(shipped.read_text("utf-8"))
    for attempt in range(3):
        out = tmp_path / f"out{attempt}"
        builds = {
            rule: subprocess.Popen(
                [sys.executable, "-c", BUILD, tmp_path / "talks.jsonl", out, rule],
                cwd=ROOT,
                text=True,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
            )
            for rule in ("words", "bytes")
        }
        for one in builds.values():
            assert one.stdout is not None
            assert one.stdout.readline() == "ready\n"
        for one in builds.values():
            assert one.stdin is not None
            one.stdin.write("\n")
            one.stdin.flush()
        said = {rule: one.communicate(timeout=60)[1] for rule, one in builds.items()}
        codes = {rule: one.returncode for rule, one in builds.items()}
        assert sorted(codes.values()) == [0, 1], said
        (winner,) = [rule for rule, code in codes.items() if code == 0]
        (loser,) = [rule for rule, code in codes.items() if code == 1]
        assert "another" in said[loser]
        assert len(said[loser].splitlines()) == 1
        assert {package.cost_rule for package in read_packages(out)} == {winner}
        assert [path.name for path in out.glob(".*")] == []


@pytest.mark.parametrize(
    "command",
    [
        ("study", "train-judge", "{p}", "--out", "{x}"),
        ("model", "export", "{x}", "--set", "model.cache={c}"),
        ("package", "schema", "--out", "{x}"),
        ("frontier", "{p}", "--max-budget", "2", "--plot", "{x}"),
    ],
    ids=" ".join,
)
def test_nothing_else_is_overwritten(command: tuple[str, ...], tmp_path: Path) -> None:
    """A file of another kind may be the only copy."""
    from tests.models.test_cache import fill

    done("study", "generate", "base", "--out", tmp_path / "p.json")
    fill(tmp_path / "c", ["x"])
    notes = tmp_path / "notes.svg"
    notes.write_text(PRECIOUS)
    places = {"{p}": tmp_path / "p.json", "{x}": notes, "{c}": tmp_path / "c"}
    line = failure(*(places.get(word, word) for word in command))
    assert f"{notes}: already exists and is not a " in line
    assert notes.read_text() == PRECIOUS


def test_labels_of_another_annotator(tmp_path: Path, target: Path) -> None:
    """`annotate --export` writes over labels of the same annotator only."""
    from memaudit.lab.labels.annotate.labelling import LabelDatabase, frame_digest
    from tests.lab.labels.annotate.small_frames import frame_of

    folder, cells = frame_folder(tmp_path / "frame", 2), frame_of(2).cells
    database = LabelDatabase(folder / "labels.sqlite", frame_digest(cells), 2)
    for name in ("ann", "ben"):
        database.decide(name, "c0001", "full", "")
    database.close()
    out = tmp_path / "labels.csv"
    for _ in range(2):
        done("label", "annotate", folder, "--annotator", "ann", "--export", out)
    before = out.read_text()
    line = failure("label", "annotate", folder, "--annotator", "ben", "--export", out)
    assert line.endswith("holds labels of 'ann'; choose another file")
    assert out.read_text() == before
    notes = target.rename(tmp_path / "notes.csv")
    failure("label", "annotate", folder, "--annotator", "ann", "--export", notes)
    assert notes.read_text() == PRECIOUS


def test_the_report_of_a_bench(target: Path) -> None:
    """Before anything is measured."""
    done_ = subprocess.run(
        [sys.executable, "-m", "bench", "--sections", "memory", "--json", target],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert done_.returncode == 1
    assert "already exists and is not a bench report" in done_.stderr
    assert target.read_text() == PRECIOUS


WRITER = """
import sys
from pathlib import Path
from memaudit.kernel.io.atomic import write_file
place, who = Path(sys.argv[1]), sys.argv[2]
for number in range(60):
    write_file(place / "f", who * 5000)
"""


def test_many_writers_of_one_path(tmp_path: Path) -> None:
    """Each write is whole, none fails, and nothing is left."""
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, tmp_path, who], cwd=ROOT) for who in "xyz"
    ]
    assert [one.wait(60) for one in writers] == [0, 0, 0]
    assert sorted(path.name for path in tmp_path.iterdir()) == ["f"]
    assert (tmp_path / "f").read_text() in {who * 5000 for who in "xyz"}


def test_two_folders_change_places(tmp_path: Path) -> None:
    """In one step where the system can; a missing one is an error."""
    for name in ("one", "other"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "is").write_text(name)
    if not exchange(tmp_path / "one", tmp_path / "other"):
        pytest.skip("this system or file system has no such step")
    assert (tmp_path / "one" / "is").read_text() == "other"
    assert (tmp_path / "other" / "is").read_text() == "one"
    with pytest.raises(OSError, match="No such file"):
        exchange(tmp_path / "one", tmp_path / "gone")


def test_killed_between_two_steps(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without that step: the old folder stands beside, and the next write brings it back."""
    monkeypatch.setattr(atomic, "exchange", lambda *_: False)
    old = tmp_path / ".g.old-part"
    old.mkdir()
    (old / "a").write_text("old")
    write_folder(tmp_path / "g", {"a": "new"}, ("a",))
    assert [path.name for path in tmp_path.iterdir()] == ["g"]
    assert (tmp_path / "g" / "a").read_text() == "new"
