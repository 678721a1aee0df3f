"""Every argument of a command that names a file, with a pipe, a device, a link or a folder there.

`{x}` is the argument in question. What is read may be a link to a file; what is written may not.
"""

import os
import re
import shutil
import stat
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import pytest

from memaudit.cli.main import COMMANDS, load
from memaudit.kernel.io.certificates import write_certificates
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.labels.annotate.labelling import LabelDatabase, frame_digest
from tests.boards import make_board
from tests.cli.running import done, import_texts
from tests.hardening.box import Box, Hostile
from tests.hardening.targets import FULL, write_run, write_scores
from tests.lab.labels.annotate.small_frames import frame_folder, frame_of
from tests.models.test_cache import exported, fill

pytestmark = pytest.mark.slow

P, S, TALKS, FRAME = "{in}/p.json", "{in}/s.json", "{in}/talks.jsonl", "{in}/frame"
ANN, RUN, DB = "{in}/ann.csv", "{in}/run", "{in}/c"
TWO, JUDGED = "{in}/packages", "{in}/judged.csv"
LEXICAL = "--budget 5 --judge lexical"
OFFLINE = "--model m --set model.provider=offline --set model.yes=true"
CACHE = "--set model.cache={out}/c.sqlite"
SERIAL = "--set engine.name=serial"

READS = {
    f"quick {TALKS}": "quick {x}",
    f"import {S}": "import {x} --out {out}/s.json",
    f"lint {S}": "lint {x}",
    f"lint {S} {P}": f"lint {S} {{x}} --judge pointer",
    f"lint {S} --before": f"lint {S} --before {{x}}",
    "lint --apply": f"lint {S} --apply {{x}}",
    "lint with --apply": "lint {x} --apply {in}/plan.json",
    f"diff {S} .": f"diff {{x}} {S}",
    f"diff . {S}": f"diff {S} {{x}}",
    f"diff {S} {S} {P}": f"diff {S} {S} {{x}} --judge lexical",
    f"score {P} .": f"score {{x}} {S} {LEXICAL}",
    "score . store": f"score {P} {{x}} {LEXICAL}",
    "score --judge": f"score {P} {S} --budget 5 --judge labels:{{x}}",
    "score --label-memories": f"score {P} {S} --budget 5 --judge labels:{JUDGED} "
    "--set judge.memories={x}",
    "score --salience": f"score {P} {S} {LEXICAL} --salience {{x}}",
    "score --salience query": f"score {P} {S} {LEXICAL} --salience query:{{x}}",
    "capture --replay": f"capture mem0 --package {P} --replay {{x}} --out {{out}}/s.json",
    "gate package": f"gate {{x}} {S} {LEXICAL} --min-score 0",
    "gate store": f"gate {P} {{x}} {LEXICAL} --min-score 0",
    "board": "board {x}",
    "board --add": "board --add x={x}",
    "board of scores": "board {x}",
    "study sensitivity package": f"study sensitivity {{x}} {S} {LEXICAL}",
    "study sensitivity store": f"study sensitivity {P} {{x}} {LEXICAL}",
    "diagnose package": "diagnose {x} --budget 5 --writer gvt --out {out}/d",
    "diagnose store": f"diagnose {P} {{x}} {LEXICAL} --out {{out}}/d",
    "study transfer": "study transfer {x} --budget 20 --out {out}/t",
    "study transfer --subset": f"study transfer {TALKS} --budget 20 --subset {{x}} --out {{out}}/t",
    "package inspect": "package inspect {x}",
    "package subset": "package subset {x} --out {out}/m.json --size 1",
    "build": "build {x} --out {out}/b",
    "build --subset": f"build {TALKS} --subset {{x}} --out {{out}}/b",
    "build --units": f"build {TALKS} --units {{x}} --out {{out}}/b",
    "build --memories": f"build {TALKS} --memories {{x}} --out {{out}}/b",
    "build --coverage": f"build {TALKS} --coverage {{x}} --out {{out}}/b",
    "package validate": "package validate {x}",
    "package show": "package show {x}",
    "package convert": "package convert {x} {out}/q.json",
    "package recost": "package recost {x} {out}/q.json --rule bytes",
    "package card": "package card {x} --out {out}/card",
    "label frame": "label frame {x} --out {out}/f",
    "label sheets stores": f"label sheets {P} {{x}} --out {{out}}/sheets",
    "label cells": f"label cells {{x}} --out {{out}}/l.csv {OFFLINE} {CACHE}",
    "audit agreement": f"audit agreement {{x}} {ANN}",
    "audit agreement labels": f"audit agreement {FRAME} {{x}}",
    "audit ratios": "audit ratios {x} --budget 5 --labels pass:a",
    "audit ratios --labels": f"audit ratios {P} --budget 5 --labels {{x}} --frame {FRAME}",
    "audit ratios --frame": f"audit ratios {P} --budget 5 --labels {ANN} --frame {{x}}",
    "audit model": f"audit model {{x}} {OFFLINE} {CACHE}",
    "audit optimum": f"audit optimum {{x}} {LEXICAL}",
    "audit optimum store": f"audit optimum {P} {{x}} {LEXICAL}",
    "audit report": "audit report {x} --out {out}/a.html",
    "label annotate": "label annotate {x} --annotator ann --export {out}/l.csv",
    "audit built": "audit built {x}",
    "run --packages": f"run --packages {{x}} --budgets 5 --writers gvt {SERIAL} --out {{out}}/r",
    "report": "report {x} --out {out}/r.html",
    "report --diagnose": f"report {RUN} --diagnose {{x}} --out {{out}}/r.html",
    "study train-judge": "study train-judge {x} --out {out}/j.json",
    "reproduce natural": "reproduce natural --artifact {x}",
    "reproduce all --archive": "reproduce all --archive {x} --out {out}/r",
    "reproduce verify": "reproduce verify {x}",
    "serve --out": "serve {x} --out {out}/site",
    "solve": "solve {x} --budget 5",
    "verify package": "verify {x} {in}/cert.json",
    "verify certificate": f"verify {P} {{x}}",
    "frontier": "frontier {x} --max-budget 5",
    "model import": "model import {x} --set model.cache={out}/c.sqlite",
    "model export model.cache": "model export {out}/c.jsonl --set model.cache={x}",
    "model show model.cache": "model show --set model.cache={x}",
}
"""Commands that read the file at `{x}`."""

WRITES = {
    "quick --out": f"quick {TALKS} --out {{x}}",
    "import --out": f"import {S} --out {{x}}",
    "lint --out": f"lint {S} --out {{x}}.html",
    "lint --out of a plan": f"lint {S} --out {{x}}.json",
    "lint --out of a proof": f"lint {S} {P} --judge lexical --out {{x}}",
    "lint --out of SARIF": f"lint {S} --out {{x}}.sarif",
    "diff --out": f"diff {S} {S} --out {{x}}",
    "score --better": f"score {P} {S} {LEXICAL} --better {{x}}",
    "score --save-union": f"score {P} {S} {LEXICAL} --save-union {{x}}",
    "score --out": f"score {P} {S} {LEXICAL} --out {{x}}.svg",
    "score --journal": f"score {TWO} {S} {LEXICAL} --set engine.journal={{x}}",
    "score --cache": f"score {P} {S} --budget 5 --judge model:m "
    "--set model.provider=offline --set model.cache={x}",
    "board --out": "board --out {x}",
    "label sheets --out": "label sheets {in}/board --out {x}",
    "board of scores --out": "board {in}/scores --out {x}",
    "board --out of a table": "board {in}/scores --out {x}.csv",
    "diagnose --out": f"diagnose {P} --budget 5 --writer gvt --out {{x}}",
    "study transfer --out": f"study transfer {TALKS} --budget 20 --out {{x}}",
    "package subset --out": f"package subset {TALKS} --out {{x}} --size 1",
    "build --out": f"build {TALKS} --out {{x}}",
    "build model.cache": f"build {TALKS} {OFFLINE} --out {{out}}/b --set model.cache={{x}}",
    "package convert": f"package convert {P} {{x}}",
    "package convert to .json": f"package convert {P} {{x}}.json",
    "package recost": f"package recost {P} {{x}}.json --rule bytes",
    "package card --out": "package card {in}/packages --out {x}",
    "package schema --out": "package schema --out {x}",
    "study generate --out": "study generate base --out {x}",
    "study generate --out .json": "study generate base --out {x}.json",
    "label frame --out": f"label frame {P} --out {{x}}",
    "label cells --out": f"label cells {FRAME} --out {{x}}.csv {OFFLINE} {CACHE}",
    "audit report --out": "audit report {in}/audit.json --out {x}",
    "label annotate --labels": f"label annotate {FRAME} --annotator ann "
    "--export {out}/l.csv --labels {x}",
    "label annotate --export": f"label annotate {FRAME} --annotator ann "
    "--labels {in}/labels.sqlite --export {x}.csv",
    "run --out": f"run --packages base --seeds 1 --budgets 2 --writers gvt {SERIAL} --out {{x}}",
    "report --out": f"report {RUN} --out {{x}}",
    "study train-judge --out": f"study train-judge {P} --out {{x}}",
    "reproduce controlled --out": "reproduce controlled --out {x}",
    "reproduce all --out": "reproduce all --out {x}",
    "serve --out": f"serve {P} --out {{x}}",
    "solve --certificate": f"solve {P} --budget 5 --certificate {{x}}",
    "frontier --plot": f"frontier {P} --max-budget 5 --plot {{x}}.svg",
    "frontier --out": f"frontier {P} --max-budget 5 --out {{x}}",
    "model export": f"model export {{x}} --set model.cache={DB}",
    "model import model.cache": "model import {in}/c.jsonl --set model.cache={x}",
}
"""Commands that write the file or folder at `{x}`."""

ELSEWHERE = {
    "demo --out",
    "capture --out",
    "capture --package",
    "capture --python",
    "capture --record",
    "serve folders",
    "report --figures",
    # The same option by the same function as a command that is tried.
    "gate --salience",
    "study sensitivity --salience",
    "diagnose --salience",
    "audit optimum --labels",
    "audit optimum --frame",
}
"""Arguments that are not tried here."""

NAMES_A_FILE = {
    *("FILE", "DIR", "PATH", "DB", "STORE", "PACKAGE", "PACKAGES", "FRAME", "CELLS"),
    *("LABELS", "SRC", "DST", "SITE", "MANIFEST", "RESPONSES", "PLAN", "SOURCE"),
    *("FILE[,FILE...]", "[STORE]...", "RUN"),
}


def arguments() -> Iterator[tuple[str, str]]:
    """Every command with each of its options and arguments that name a file."""

    def walk(command: Any, name: str) -> Iterator[tuple[str, str]]:
        for more, inner in getattr(command, "commands", {}).items():
            yield from walk(inner, f"{name} {more}")
        for one in command.params:
            if one.metavar in NAMES_A_FILE:
                yield name, one.opts[0] if one.param_type_name == "option" else one.name

    for name in COMMANDS:
        yield from walk(load(name), name)


def test_every_argument_is_in_a_table() -> None:
    tried = [command.split(" ") for command in (*READS.values(), *WRITES.values())]
    missing = []
    for command, argument in arguments():
        words = command.split(" ")
        mine = [one for one in tried if one[: len(words)] == words]
        named = (one[at - 1] for one in mine for at, word in enumerate(one) if "{x}" in word)
        if argument.startswith("--"):
            is_tried = argument in named
        else:
            is_tried = any(not name.startswith("--") for name in named)
        if not is_tried and f"{command} {argument}" not in ELSEWHERE:
            missing.append(f"{command} {argument}")
    assert missing == []


@pytest.fixture(scope="module")
def valid(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One valid file or folder of every kind that the commands above read."""
    folder = tmp_path_factory.mktemp("valid")
    write_package(FULL, folder / "p.json")
    (folder / "packages").mkdir()
    write_package(FULL, folder / "packages" / "p.json")
    write_package(FULL.replace(name="other"), folder / "packages" / "q.json")
    import_texts(folder / "s.json", ["She had tea.", "She had tea.", "He likes rice."])
    done("lint", folder / "s.json", "--out", folder / "plan.json")
    best = solve(FULL, budget=5).certificate
    assert best is not None
    write_certificates([best], folder / "cert.json")
    shipped = files("memaudit.examples").joinpath("natural/conversations.jsonl").read_text("utf-8")
    talks = shipped.split('{"conversation"')
    (folder / "talks.jsonl").write_text('{"conversation"'.join(talks[:3]))
    (folder / "none.json").write_text("[]")
    (folder / "judged.csv").write_text("memory_id,unit_id,coverage\nm1,u1,1\n")
    frame_folder(folder / "frame", 2)
    cells = frame_of(2).cells
    labels = LabelDatabase(folder / "labels.sqlite", frame_digest(cells), 2)
    labels.decide("ann", "c0001", "full", "")
    labels.close()
    (folder / "ann.csv").write_text("cell_id,annotator_id,label,notes\nc0001,ann,full,\n")
    make_board(folder / "board", {"new": [["Ann is a secret agent"]]}, conversations=1)
    write_run(folder / "run")
    write_scores(folder / "scores")
    fill(folder / "c", ["x", "y"])
    exported(folder / "c")
    return folder


SPECIAL: dict[str, Callable[[Path], object]] = {
    "pipe": os.mkfifo,
    "device": lambda path: os.mknod(path, stat.S_IFCHR | 0o666, os.makedev(1, 5)),  # /dev/zero
    "link to a device": lambda path: path.symlink_to("/dev/zero"),
    "folder": Path.mkdir,
    "link": lambda path: path.symlink_to(path.with_name("precious")),
}


def made(kind: str, path: Path) -> None:
    try:
        SPECIAL[kind](path)
    except PermissionError:
        pytest.skip("only the superuser makes devices")


@pytest.mark.parametrize("kind", [kind for kind in SPECIAL if kind != "link"])
def test_read(kind: str, valid: Path, box: Box) -> None:
    """One line, exit code 1; nothing waits, and nothing is read without end."""

    def write(folder: Path) -> None:
        shutil.copytree(valid, folder, dirs_exist_ok=True)
        made(kind, folder / "x")

    wrong = []
    for name, command in READS.items():
        words = command.replace("{x}", "{in}/x").split(" ")
        try:
            (ended,) = box.run(write, [words])
        except Hostile as error:
            if "pycache" not in str(error) and "matplotlib" not in str(error):  # their caches
                wrong.append(f"{name}: {error}")
            continue
        if kind != "folder" and ended.code != 1:
            wrong.append(f"{name}: exit code {ended.code}: {ended.out}{ended.err}")
        if kind != "folder" and not re.search(r"\bx\b", ended.err):
            wrong.append(f"{name}: {ended.err}")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("kind", ["pipe", "device", "link"])
def test_written(kind: str, valid: Path, box: Box) -> None:
    """Refused, and left as it was; what a link leads to too."""
    wrong = []
    for name, command in WRITES.items():
        word = next(word for word in command.split(" ") if "{x}" in word)
        place = box.output / f"x{word.partition('{x}')[2]}"
        precious = place.with_name("precious")

        def write(folder: Path) -> None:
            shutil.copytree(valid, folder, dirs_exist_ok=True)
            precious.write_text("precious")  # noqa: B023
            made(kind, place)  # noqa: B023

        words = command.replace("{x}", "{out}/x").split(" ")
        try:
            (ended,) = box.run(write, [words])
        except Hostile as error:
            if "pycache" not in str(error) and "matplotlib" not in str(error):  # their caches
                wrong.append(f"{name}: {error}")
            continue
        mode = place.lstat().st_mode
        if ended.code != 1 or str(place) not in ended.err:
            wrong.append(f"{name}: exit code {ended.code}: {ended.out}{ended.err}")
        if stat.S_ISREG(mode) or stat.S_ISDIR(mode) or precious.read_text() != "precious":
            wrong.append(f"{name}: it was replaced")
    assert not wrong, "\n".join(wrong)
