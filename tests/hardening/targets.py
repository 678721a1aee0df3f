"""What is attacked: valid packages, certificates, exports, datasets and stores, and the commands
that read them."""

import io
import json
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from memaudit import solve
from memaudit.building.named_packages import short_set
from memaudit.conversations.registry import LOADERS
from memaudit.kernel.io.certificates import write_certificates
from memaudit.kernel.io.packages import read_package, write_package
from memaudit.kernel.io.store_file import store_text
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.summary import summarise
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.stores.registry import ADAPTERS, import_store
from memaudit.workspace.engines import Serial
from tests.building.test_named_packages import build_of_folders
from tests.cli.running import done, import_texts
from tests.conversations.files import FIXTURES
from tests.published_layout import write_artifact
from tests.stores.exports import EXPORTS, write_tables

WRITERS = ("opt", "gvt")


def write_run(place: Path) -> None:
    run(RunSpec(("base",), (0, 1), ("2",), WRITERS), place, Serial())
    summarise(place)


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
        """The files, some of them changed."""
        for name, data in {**self.files, **(changes or {})}.items():
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes(data)


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


FULL = read_package(Path(__file__).with_name("full.json"))
"""A package that uses every field there is."""


@cache
def package_targets() -> list[Target]:
    """The three forms of a package and a build folder; what is valid is also rewritten."""
    use = (
        "package validate {in}",
        "package show {in}",
        "package convert {in} {out}/a --name full",
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
    return found + [
        _target(
            f"export, fields of {name}",
            {name: data},
            f"import mapped {{in}}/{name} --fields text={top}.m.text,time={top}.m.at "
            "--out {out}/m.json",
        )
        for name, data, top in _mapped_files()
    ]


def _mapped_files() -> Iterator[tuple[str, bytes, str]]:
    """Files of no known format with the same fields, and where their paths begin."""
    memory = {"text": "Ann eats fish.", "at": 1741954200.5, "by": "ann"}
    rows = [
        {"id": str(number), "m": {**memory, "text": text}}
        for number, text in enumerate(("Ann eats fish.", "Bo likes tea."))
    ]
    yield "any.json", json.dumps({"found": {"rows": rows}, "old": []}).encode(), "found.rows"
    yield "any.jsonl", lines([{"x": row, **row} for row in rows]), "x"
    columns = [{"id": row["id"], "m": json.dumps(row["m"]), "x": json.dumps(row)} for row in rows]
    yield "any.csv", table(columns), "x"
    tables: dict[str, list[dict[str, Any]]] = {"x": [*columns], "log": [{"m": 1}]}
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
def store_targets() -> list[Target]:
    """A store's file, read and written."""

    def write(place: Path) -> None:
        store = import_store([EXPORTS["mem0"].write(Path(tempfile.mkdtemp()))])
        (place / "store.json").write_text(store_text(store))

    return [_target("store", files_of(write), "reader:store {in}/store.json")]


def all_targets() -> list[Target]:
    return [
        *package_targets(),
        *certificate_targets(),
        *adapter_targets(),
        *dataset_targets(),
        *store_targets(),
    ]
