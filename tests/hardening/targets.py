"""What is attacked: valid files and folders of every kind, and the commands that read them."""

import io
import json
import re
import tempfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path

from memaudit import solve
from memaudit.building.named_packages import short_set
from memaudit.conversations.registry import LOADERS
from memaudit.conversations.subset import Subset, subset_text
from memaudit.kernel.io.certificates import write_certificates
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.published_folder import write_artifact
from memaudit.kernel.io.store_file import store_text
from memaudit.kernel.package.package import Package
from memaudit.lab.downstream.answer_readers import READERS
from memaudit.lab.downstream.ask_questions import ReadingSetup
from memaudit.lab.downstream.run import diagnose
from memaudit.lab.downstream.store_cases import StoreChoice, make_cases, named_policy
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.summary import summarise
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.lab.sweeps.writers.registry import named_writer
from memaudit.stores.registry import ADAPTERS, import_store
from memaudit.workspace.engines import Serial
from memaudit.workspace.run_folder import LOCK, ROWS
from tests.building.test_named_packages import build_of_folders
from tests.cli.running import done, import_texts
from tests.conversations.files import FIXTURES
from tests.lab.downstream.newest import Newest
from tests.lab.explorer.libraries import sheet_data
from tests.lab.labels.annotate.small_frames import frame_folder
from tests.models.test_cache import exported, fill
from tests.stores.exports import EXPORTS, write_tables

SETUP = ReadingSetup(Newest(), 2, READERS["extractive"])
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
    run(RunSpec(("base",), (0, 1), ("2",), WRITERS), place, Serial())
    summarise(place)


def write_diagnosis(place: Path) -> None:
    writers = [named_writer(name) for name in ("opt", "recency_raw")]
    wanted = StoreChoice(Fraction(12), [], None, writers, named_policy("recency"), 0)
    made = make_cases(short_set()[:1], wanted)
    diagnose(made.cases, SETUP, place, made.settings)


def write_scores(place: Path) -> None:
    """Two stores of two packages, one file a package."""
    for package in short_set()[:2]:
        home = Path(tempfile.mkdtemp())
        write_package(package, home / "p.json")
        texts = [candidate.text for candidate in package.candidates]
        stores = [
            import_texts(home / f"{name}.json", texts[::step])
            for name, step in (("all", 1), ("half", 2))
        ]
        scored = done("score", home / "p.json", *stores, "--budget", "20", "--json")
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


Files = Mapping[str, bytes]
Command = tuple[str, ...]


@dataclass(frozen=True)
class Target:
    """Files in the input folder, by path; those that are attacked; the commands, in order."""

    name: str
    files: Files
    commands: tuple[Command, ...]
    attacked: tuple[str, ...]

    def write(self, folder: Path, changes: Files | None = None) -> None:
        """The files, some of them changed; rows below a folder get checksums that fit."""
        for name, data in {**self.files, **(changes or {})}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(sealed(data) if name.endswith(f"/{ROWS}") else data)


def _target(
    name: str, files: Files, *commands: str, attacked: Callable[[str], bool] = lambda _: True
) -> Target:
    words = tuple(tuple(command.split(" ")) for command in commands)
    return Target(name, files, words, tuple(file for file in sorted(files) if attacked(file)))


def files_of(make: Callable[[Path], object]) -> dict[str, bytes]:
    """What a function writes into a folder."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        return {
            path.relative_to(folder).as_posix(): path.read_bytes()
            for path in sorted(folder.rglob("*"))
            if path.is_file()
        }


def _inside(write: Callable[[Path], None]) -> Callable[[Path], None]:
    """The same, in a folder called x."""
    return lambda place: write(place / "x")


FULL = Package.model_validate(
    {
        "name": "full",
        "group_cap": 2,
        "cost_rule": "words",
        "budgets": [3, "7/2"],
        "attributes": {"note": [0.5, {"deep": None}]},
        "experiences": [
            {
                "id": "e1",
                "text": "Ann moved to Rome.",
                "index": 0,
                "session": "s1",
                "speaker": "Ann",
                "timestamp": "2025-01-06",
            },
            {"id": "e2", "text": "Bob too.", "index": 1},
        ],
        "candidates": [
            {
                "id": "m1",
                "experience": "e1",
                "kind": "raw",
                "text": "Ann moved",
                "cost": 2,
                "confidence": "1/3",
                "generator": "hand",
            },
            {"id": "m2", "experience": "e1", "kind": "fact", "text": "Rome", "cost": 1},
            {
                "id": "m3",
                "experience": "e2",
                "kind": "tombstone",
                "text": "Bob moved too",
                "cost": 3,
            },
        ],
        "units": [
            {
                "id": "u1",
                "kind": "fact",
                "weight": 2,
                "text": "Ann moved to Rome.",
                "sources": [{"id": "e1", "session": "s1", "text": "moved to Rome"}],
            },
            {"id": "u2", "kind": "current", "response": {"shape": "capped", "cap": "1/2"}},
            {
                "id": "u3",
                "kind": "temporal",
                "timestamp": "2025-01-06",
                "response": {"shape": "piecewise", "points": [["1/2", "1/2"], [1, "3/4"]]},
            },
            {"id": "u4", "kind": "deletion", "response": {"shape": "sqrt"}},
        ],
        "queries": [
            {
                "id": "q1",
                "text": "Where?",
                "answer": "Rome",
                "required": ["u2", "u3"],
                "kind": "fact",
                "importance": "3/2",
            },
            {"id": "q2", "required": ["u4"]},
        ],
        "coverage": [
            {"candidate": "m1", "unit": "u1", "value": 1, "label": "full", "provenance": "hand"},
            {"candidate": "m2", "unit": "u1", "value": 0.5, "rationale": "half"},
            {"candidate": "m2", "unit": "u3", "value": "2/3"},
            {"candidate": "m3", "unit": "u2", "value": 1},
            {"candidate": "m3", "unit": "u4", "value": 0.25},
        ],
    }
)
"""A package that uses every field there is."""


@cache
def package_targets() -> list[Target]:
    """The three forms of a package and a build folder; what is valid is also rewritten."""
    use = (
        "package validate {in}",
        "package show {in}",
        "package convert {in} {out}/a --to artifact",
    )
    single = tuple(command.replace("{in}", "{in}/p.json") for command in use)
    rewrite = (
        "package convert {in}/p.json {out}/p",
        "package recost {in}/p.json {out}/r.json --rule bytes",
    )
    published = [FULL, FULL.replace(name="b", group_cap=1)]
    built = files_of(lambda place: build_of_folders(place / "b"))
    return [
        _target(
            "package, one file",
            files_of(lambda p: write_package(FULL, p / "p.json")),
            *single,
            *rewrite,
        ),
        _target(
            "package, folder",
            files_of(lambda p: write_package(FULL, p / "p")),
            "package validate {in}/p",
            "package show {in}/p",
            "package convert {in}/p {out}/q.json",
        ),
        _target(
            "package, published layout",
            files_of(lambda p: write_artifact(published, p / "a")),
            *(command.replace("{in}", "{in}/a") for command in use),
        ),
        _target(
            "package, build folder",
            built,
            "package validate {in}/b",
            "audit built {in}/b",
            "label frame {in}/b --out {out}/f",
        ),
    ]


@cache
def certificate_targets() -> list[Target]:
    """A certificate of a valid package, a list of them, and a package with its certificate."""
    best = [solve(FULL, budget=budget).certificate for budget in (2, 3, 5)]

    def write(place: Path) -> None:
        write_package(FULL, place / "p.json")
        write_certificates([one for one in best if one], place / "c.json")
        write_certificates([one for one in best[1:2] if one], place / "one.json")

    files = files_of(write)
    use = ("verify {in}/p.json {in}/c.json", "verify {in}/p.json {in}/one.json --json")
    return [
        _target("certificates", files, *use, attacked=lambda name: name != "p.json"),
        _target("package of certificates", files, *use, attacked=lambda name: name == "p.json"),
    ]


@cache
def adapter_targets() -> list[Target]:
    """Every importer of the registry on every export it has here, by name and by guess."""
    found = []
    for name, export in EXPORTS.items():
        files = files_of(export.write)
        path = "{in}/export" if export.folder is not None else "{in}/" + next(iter(files))
        views = ADAPTERS[export.format].views
        commands = [f"import {path} --out {{out}}/guessed.json"]
        commands += [
            f"import {export.format} {path} --view {view} --out {{out}}/{number}.json"
            for number, view in enumerate(views)
        ]
        found.append(_target(f"export, {name}", files, *commands))
    fields = "--fields text=m.text,time=m.at,id=id,namespace=m.by"
    return found + [
        _target(
            f"export, fields of {name}",
            {name: data},
            f"import mapped {{in}}/{name} {fields} --out {{out}}/fields.json",
            f"import {{in}}/{name} --fields text={top}.m.text --out {{out}}/top.json",
        )
        for name, data, top in _mapped_files()
    ]


def _mapped_files() -> Iterator[tuple[str, bytes, str]]:
    """Files of no known format with the same fields, and where paths from the top begin."""
    memory = {"text": "Ann eats fish.", "at": 1741954200.5, "by": "ann"}
    rows = [
        {"id": str(number), "m": {**memory, "text": text}}
        for number, text in enumerate(("Ann eats fish.", "Bo likes tea."))
    ]
    yield "any.json", json.dumps({"found": {"rows": rows}, "old": []}).encode(), "found.rows"
    yield "any.jsonl", lines([{"x": row, **row} for row in rows]), "x"
    columns = [{"id": row["id"], "m": json.dumps(row["m"]), "x": json.dumps(row)} for row in rows]
    yield "any.csv", table(columns), "x"
    tables = {"x": columns, "log": [{"m": 1}]}
    data = files_of(lambda place: write_tables(place / "any.db", tables))["any.db"]
    yield "any.db", data, "x"


@cache
def _fixture(path: Path) -> dict[str, bytes]:
    files = sorted(path.iterdir()) if path.is_dir() else [path]
    return {file.relative_to(path.parent).as_posix(): file.read_bytes() for file in files}


def dataset_targets() -> list[Target]:
    """Every loader of the registry: inspected, and built."""
    return [
        _target(
            f"dataset, {name}",
            _fixture(FIXTURES[name]),
            f"package inspect {{in}}/{FIXTURES[name].name}",
            f"package inspect {name} {{in}}/{FIXTURES[name].name} --json",
            f"build {{in}}/{FIXTURES[name].name} --out {{out}}/b",
            f"build {name} {{in}}/{FIXTURES[name].name} --out {{out}}/c",
        )
        for name in LOADERS
    ]


UNITS: list[dict[str, object]] = [
    {
        "conversation": "c1",
        "unit_id": "u1",
        "kind": "fact",
        "text": "Ann eats fish.",
        "quote": "I eat fish",
        "turns": ["t1"],
        "questions": ["q1"],
    },
    {"conversation": "c1", "unit_id": "u2", "kind": "update", "text": "No meat.", "session": "s1"},
]
MEMORIES: list[dict[str, object]] = [
    {"conversation": "c1", "memory_id": "m1", "turn": "t1", "kind": "fact", "text": "Eats fish."},
    {
        "conversation": "c1",
        "memory_id": "m2",
        "session": "s1",
        "kind": "fact",
        "text": "No meat.",
        "sources": ["t1"],
        "confidence": 0.5,
    },
]
CELLS: list[dict[str, object]] = [
    {"conversation": "c1", "memory_id": "m1", "unit_id": "u1", "coverage": 1, "why": "says"}
]
TALK: list[dict[str, object]] = [
    {"conversation": "c1"},
    {"session": "s1", "time": "2025-01-06"},
    {"id": "t1", "speaker": "Ann", "text": "I eat fish."},
    {"id": "q1", "question": "What?", "answer": "Fish", "evidence": ["t1"]},
]


def lines(rows: Sequence[Mapping[str, object]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def table(rows: Sequence[Mapping[str, object]]) -> bytes:
    """Rows as CSV, lists joined by semicolons."""
    import csv

    out = io.StringIO()
    writer = csv.DictWriter(out, sorted({key for row in rows for key in row}))
    writer.writeheader()
    for row in rows:
        cells = {k: ";".join(v) if isinstance(v, list) else v for k, v in row.items()}
        writer.writerow(cells)
    return out.getvalue().encode()


@cache
def label_targets() -> list[Target]:
    """Labels for a build, frames, and labels of their cells, in every form that is read."""
    found = []
    for kind, write in (("jsonl", lines), ("csv", table)):
        files = {
            "talk.jsonl": lines(TALK),
            f"units.{kind}": write(UNITS),
            f"memories.{kind}": write(MEMORIES),
            f"cells.{kind}": write(CELLS),
        }
        found.append(
            _target(
                f"labels, {kind}",
                files,
                f"build {{in}}/talk.jsonl --units {{in}}/units.{kind} --memories "
                f"{{in}}/memories.{kind} --coverage {{in}}/cells.{kind} --out {{out}}/b",
                attacked=lambda name: name != "talk.jsonl",
            )
        )
    frame = files_of(lambda place: frame_folder(place / "frame", 3))
    labels = {
        "ann.csv": b"cell_id,annotator_id,label,notes\nc0001,ann,full,\nc0002,ann,none,why\n",
        "ben.jsonl": b'{"cell_id": "c0001", "annotator": "ben", "label": 0.5}\n'
        b'{"cell_id": "c0002", "label": "no", "note": "x"}\n',
    }
    agree = "reader:labels {in}/frame {in}/ann.csv {in}/ben.jsonl"
    loose = {name: data for name, data in frame.items() if not name.endswith("frame.json")}
    found.append(
        _target(
            "frame", {**frame, **labels}, agree, attacked=lambda name: name.startswith("frame/")
        )
    )
    found.append(
        _target(
            "frame without a manifest",
            {**loose, **labels},
            agree,
            "reader:labels {in}/frame/cells.jsonl {in}/ann.csv",
            attacked=lambda name: name.startswith("frame/"),
        )
    )
    found.append(
        _target(
            "labels of a frame", {**frame, **labels}, agree, attacked=lambda name: "/" not in name
        )
    )
    return found


@cache
def other_targets() -> list[Target]:
    store = files_of(
        lambda place: (place / "store.json").write_text(
            store_text(import_store([EXPORTS["mem0"].write(Path(tempfile.mkdtemp()))]))
        )
    )
    subset = Subset("0" * 64, "chat", "kind", 0, {"a": (1, 1)}, (("c", "q"),))
    replies = files_of(lambda place: exported_cache(place))
    return [
        _target(
            "cache of replies",
            {"c.jsonl": replies["c.jsonl"]},
            "model import {in}/c.jsonl --set model.cache={out}/c.sqlite",
        ),
        _target("store", store, "reader:store {in}/store.json"),
        _target("run", files_of(write_run), "reader:run {in}"),
        _target("subset", {"s.json": subset_text(subset).encode()}, "reader:subset {in}/s.json"),
    ]


@cache
def folder_targets() -> list[Target]:
    """Folders of a run, a diagnosis and scores, each with its page; a library."""
    made = {"run": write_run, "diagnosis": write_diagnosis}
    found = [
        _target(
            f"report of a {name}",
            files_of(_inside(write)),
            "report {in}/x --out {out}/x.html",
            attacked=lambda file: not file.endswith(LOCK),
        )
        for name, write in made.items()
    ]
    libraries = {
        "library": lambda place: write_library(FULL, place),
        "library of a run": _inside(write_run),
    }
    return [
        *found,
        _target(
            "board of scores",
            files_of(_inside(write_scores)),
            "board {in}/x --out {out}/x.html",
            "board {in}/x --json",
        ),
        *(
            _target(
                name,
                files_of(write),
                "serve {in} --out {out}/site",
                attacked=lambda file: not file.endswith(LOCK),
            )
            for name, write in libraries.items()
        ),
    ]


def exported_cache(place: Path) -> None:
    fill(place / "c", ["x", "y"])
    exported(place / "c")


def all_targets() -> list[Target]:
    return [
        *package_targets(),
        *certificate_targets(),
        *adapter_targets(),
        *dataset_targets(),
        *label_targets(),
        *other_targets(),
        *folder_targets(),
    ]
