"""kill -9 at random points of every command that writes: nothing reported as done is lost.

Half of the kills come after a random time, half before a random call that touches a file. Annotate
is killed in tests/web/annotate/test_kill.py, whose test is run here more often.
"""

import json
import logging
from collections.abc import Iterator
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from memaudit.adapters.store import ExportedStore, Memory, Origin, write_store
from memaudit.io.packages import write_package
from tests.hardening.amount import KILLS, MORE, SEED
from tests.hardening.killing import Count, Job, Stage, killed_everywhere, killed_often
from tests.hardening.targets import FULL
from tests.web.annotate import test_kill as annotate_kill

LOG = logging.getLogger(__name__)
TALKS, EXPORT, BUILT, NOTES = "talks.jsonl", "export.json", "built", "notes.json"
OLD = FULL.replace(name="older", attributes={})


def old_store(out: Path) -> None:
    """A store from before."""
    out.write_text('{"format": "memaudit-store", "note": "older"}\n')


def old_site(out: Path) -> None:
    """A bundle from before, of one page that is no longer there."""
    out.mkdir()
    (out / "old.html").write_text("older")
    manifest = {"format": "memaudit-site", "files": {"old.html": "", "index.html": ""}}
    (out / "site.json").write_text(json.dumps(manifest))


JOBS = (
    Job("run", ("run", "--distributions", "base,update_chain", "--seeds", "12", "--budgets", "2,4",
                "--writers", "opt,gvt,recency_raw", "--engine", "serial", "--out", "{out}"),
        grows=("rows.jsonl",), last_words="rows and summary are in"),
    Job("diagnose", ("diagnose", "event_graph:experiences=14:seeds=0-3", "--budget", "0.1",
                     "--writer", "gvt", "--retriever", "recency", "--out", "{out}"),
        grows=("rows.jsonl",), last_words="rows, memories and summary are in"),
    Job("build", ("build", TALKS, "--out", "{out}"), last_words=" packages in "),
    Job("build into folders", ("build", TALKS, "--as", "folder", "--out", "{out}"),
        last_words=" packages in "),
    Job("import", ("import", EXPORT, "--out", "{out}"), last_words="wrote "),
    Job("bundle", ("bundle", NOTES, "--out", "{out}"), last_words="open "),
    Job("bundle over a site", ("bundle", NOTES, "--out", "{out}"), before=old_site,
        last_words="open "),
    Job("import over a store", ("import", EXPORT, "--out", "{out}"), before=old_store,
        last_words="wrote "),
    Job("convert over a folder", ("convert", f"{BUILT}.json", "{out}"),
        before=lambda out: write_package(OLD, out), last_words="wrote 1 package"),
    Job("frame", ("audit", "frame", f"{BUILT}.json", "--out", "{out}"), last_words="cells of"),
)  # fmt: skip
SHARES = {
    "run": 8, "diagnose": 2, "build": 5, "build into folders": 5, "import": 3, "bundle": 2,
    "bundle over a site": 3, "import over a store": 4, "convert over a folder": 2, "frame": 2,
    "annotate": 4,
}  # fmt: skip
"""Of every 40 kills."""


def kills_of(name: str) -> int:
    """How many kills a command gets."""
    return max(1, KILLS * SHARES[name] // sum(SHARES.values()))


@pytest.fixture(scope="module")
def stage() -> Iterator[Stage]:
    made = Stage()
    yield made
    made.close()


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the commands read."""
    folder = tmp_path_factory.mktemp("inputs")
    shipped = files("memaudit.examples").joinpath("natural/conversations.jsonl")
    talks = shipped.read_text("utf-8").split('{"conversation"')
    (folder / TALKS).write_text('{"conversation"'.join(talks[:9]))
    rows = [{"id": f"m{n}", "memory": f"Memory {n} of many.", "hash": "x"} for n in range(400)]
    (folder / EXPORT).write_text(json.dumps({"results": rows}))
    write_package(FULL, folder / f"{BUILT}.json")
    memories = (Memory(id="m1", text="She had tea."),)
    origin = Origin(system="own", format="plain")
    write_store(ExportedStore(name="notes", origin=origin, memories=memories), folder / NOTES)
    return folder


def at(inputs: Path, job: Job) -> Job:
    """The job with the paths of its inputs."""
    named = {TALKS, EXPORT, NOTES, f"{BUILT}.json"}
    command = tuple(str(inputs / word) if word in named else word for word in job.command)
    return replace(job, command=command)


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.name)
def test_killed(job: Job, stage: Stage, inputs: Path, tmp_path: Path) -> None:
    """Whole or not there after each kill; the next run ends as if nothing had happened."""
    count = killed_often(stage, at(inputs, job), tmp_path, kills_of(job.name), SEED)
    tell(job.name, count)
    assert count.wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("job", JOBS[-4:-1], ids=lambda job: job.name)
def test_killed_before_every_call(job: Job, stage: Stage, inputs: Path, tmp_path: Path) -> None:
    """The same before each call that touches a file, where there are few."""
    count = killed_everywhere(stage, at(inputs, job), tmp_path, MORE)
    tell(f"{job.name}, before every call", count)
    assert count.kills > 20
    assert count.wrong == []


def tell(name: str, count: Count) -> None:
    """The figures, for a run with --log-cli-level=INFO."""
    LOG.info("%s: %d kills (nothing %d, a part %d, all %d; leftovers %d), %d too late, wrong: %s",
             name, count.kills, count.nothing, count.part, count.whole, count.left, count.too_late,
             count.wrong[:3])  # fmt: skip


@pytest.fixture(scope="module")
def forker() -> Iterator[annotate_kill.Forker]:
    yield from annotate_kill.forker.__wrapped__()  # type: ignore[attr-defined]


@pytest.mark.slow
def test_killed_annotator(
    forker: annotate_kill.Forker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The test of the labelling page, as often as was asked for."""
    monkeypatch.setattr(annotate_kill, "KILLS", kills_of("annotate"))
    annotate_kill.test_no_acknowledged_label_is_lost(forker, tmp_path)
