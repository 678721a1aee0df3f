"""Small folders as the commands leave them: a run, a diagnosis, and scores of stores."""

import json
import re
import tempfile
import zlib
from fractions import Fraction
from pathlib import Path

from memaudit import solve
from memaudit.adapters.registry import import_store
from memaudit.adapters.store import store_text
from memaudit.core.package import Package
from memaudit.downstream.calibration import Plan, calibrate
from memaudit.downstream.cases import Wanted, make_cases, named_policy
from memaudit.downstream.readers.registry import READERS
from memaudit.downstream.retrievers import RETRIEVERS
from memaudit.downstream.run import run as diagnose
from memaudit.downstream.spec import Setup
from memaudit.experiments.engines.local import Serial
from memaudit.experiments.spec import RunSpec
from memaudit.experiments.summary import summarise
from memaudit.experiments.sweep import run
from memaudit.io.certificates import write_certificates
from memaudit.io.packages import write_package
from memaudit.natural.named_packages import natural_set
from memaudit.writers.registry import named_writer
from tests.adapters.exports import EXPORTS
from tests.cli.running import run as command
from tests.web.annotate.frames import frame_folder
from tests.web.explorer_records.libraries import sheet_data

SETUP = Setup(RETRIEVERS["recency"], 2, READERS["extractive"])
WRITERS = ("opt", "gvt")
_SEAL = re.compile(rb',\s*"crc"\s*:\s*"[0-9a-f]{8}"\s*\}$')


def sealed(data: bytes) -> bytes:
    """Rows with the checksums that belong to them: who changes a row can write those as well."""
    lines = data.split(b"\n")
    for place, line in enumerate(lines):
        if found := _SEAL.search(line):
            body = line[: found.start()]
            lines[place] = body + b',"crc":"%08x"}' % zlib.crc32(body)
    return b"\n".join(lines)


def write_run(place: Path) -> None:
    """Two packages, two writers."""
    run(RunSpec(("base",), (0, 1), ("2",), WRITERS), place, Serial())
    summarise(place)


def write_diagnosis(place: Path) -> None:
    """The questions of one conversation, two stores."""
    writers = [named_writer(name) for name in ("opt", "recency_raw")]
    wanted = Wanted(Fraction(12), [], None, writers, named_policy("recency"), 0)
    made = make_cases(natural_set()[:1], wanted)
    diagnose(made.cases, SETUP, place, made.settings)


def write_calibration(place: Path) -> None:
    """Two writers on one conversation."""
    writers = [named_writer(name) for name in ("opt", "recency_raw")]
    calibrate(Plan({"natural": natural_set()[:1]}, "0.2", writers, SETUP), place)


def write_scores(place: Path) -> None:
    """Two stores of two packages, one file a package."""
    for package in natural_set()[:2]:
        home = Path(tempfile.mkdtemp())
        write_package(package, home / "p.json")
        for name, step in (("all", 1), ("half", 2)):
            texts = [one.text for one in package.candidates][::step]
            (home / f"{name}.txt").write_text("".join(f"{text}\n" for text in texts))
            command("import", "plain", home / f"{name}.txt", "--out", home / f"{name}.json",
                    "--name", name)  # fmt: skip
        stores = (home / "all.json", home / "half.json")
        scored = command("score", home / "p.json", *stores, "--budget", "20", "--json")
        assert scored.exit_code == 0, scored.output
        place.mkdir(exist_ok=True)
        (place / f"{package.name}.json").write_text(scored.stdout)


def write_library(package: Package, place: Path) -> None:
    """Files of every kind that the explorer shows but runs, side by side."""
    best = solve(package, budget=3).certificate
    assert best is not None
    write_package(package, place / "p.json")
    write_certificates([best], place / "c.json")
    frame_folder(place / "frame", 3)
    store = import_store([EXPORTS["mem0"].write(Path(tempfile.mkdtemp()))])
    (place / "store.json").write_text(store_text(store))
    (place / "scores.json").write_text(json.dumps(sheet_data("full", "a store")))
    write_diagnosis(place / "diagnosis")
    write_scores(place / "real")
