"""What comes with the program, by name: shipped sets of packages and the natural set's stores.

The stores were written by hand, in the shapes of Mem0, Letta and A-Mem, and are no measurement of
these systems. Comparisons leave them out on the conversations of the board, which has stores of
systems that were run. Every memory is labelled against every unit of its conversation.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from importlib.resources import as_file, files
from pathlib import Path

from memaudit.building.annotations import AnnotationRecipe, build_package
from memaudit.building.build_folder import packages_at
from memaudit.building.transcript import BY_SESSION, BY_TURN
from memaudit.conversations.records import LoadedConversation
from memaudit.conversations.registry import read_conversations
from memaudit.judges.label_files import read_labels
from memaudit.kernel.io.files import content_digest
from memaudit.kernel.io.packages import PackagePlace
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.cost import default_rule
from memaudit.kernel.package.package import Package

NATURAL, SHORT, LONG = SHIPPED = ("natural", "short", "long")
"""The names of the sets that come with the program. A folder of such a name is `./natural`."""

TRAINING = (SHORT, LONG)
"""The sets that the offline judge is trained on. It has not seen the natural set."""

PASSES = ("coverage", "blind_a", "blind_b")
"""The first is the packages' coverage. The others were labelled independently of it."""


def natural_set() -> tuple[Package, ...]:
    """64 invented conversations in eight settings; candidates of a session compete."""
    return shipped_set(NATURAL)


def short_set() -> tuple[Package, ...]:
    """26 short invented conversations with units, memories and coverage labelled for them."""
    return shipped_set(SHORT)


def long_set() -> tuple[Package, ...]:
    """Invented conversations over many months, each with five stores of memories."""
    return shipped_set(LONG)


@cache
def shipped_set(name: str) -> tuple[Package, ...]:
    """The packages of a set that comes with the program."""
    group = BY_SESSION if name == NATURAL else BY_TURN
    with as_file(files("memaudit").joinpath("examples", name)) as folder:
        labels = read_labels(
            folder / "units.jsonl",
            folder / "memories.jsonl",
            [folder / f"{name}.jsonl" for name in PASSES],
        )
        loaded = read_conversations(folder / "conversations.jsonl", "chat")
        recipes = [
            AnnotationRecipe("chat", _cost_rule(conversation), labels, group)
            for conversation in loaded
        ]
        pairs = zip(loaded, recipes, strict=True)
        return tuple(build_package(conversation, recipe).package for conversation, recipe in pairs)


def _cost_rule(loaded: LoadedConversation) -> str:
    sessions = loaded.conversation.sessions
    return default_rule(turn.text for session in sessions for turn in session.turns)


def labelled_packages(names: Iterable[str]) -> list[Package]:
    """Shipped sets and the packages of files, folders and builds, in the order given."""
    packages: list[Package] = []
    for name in names:
        packages += shipped_set(name) if name in SHIPPED else packages_at(Path(name))
    return packages


@dataclass(frozen=True, slots=True)
class ShippedPlace:
    """The place of a package in a set that comes with the program."""

    set: str
    number: int

    def read(self) -> Package:
        return shipped_set(self.set)[self.number]


NamedPlace = ShippedPlace | PackagePlace


def contents_of(places: Iterable[object]) -> list[str]:
    """What tells packages apart: the digests of their files, or what generates them."""
    files = {place.path: "" for place in places if isinstance(place, PackagePlace)}
    digests = {path: content_digest(path) for path in files}
    return [
        f"{digests[place.path]} {place.number}" if isinstance(place, PackagePlace) else repr(place)
        for place in places
    ]


STORES = ("mem0-shaped", "letta-shaped", "amem-shaped", "amem-shaped-metadata")
"""A-Mem's notes in two views: what its reader is shown, and the metadata alone."""

STORES_FOLDER = "stores"
LABELS, MEMORIES = "coverage.jsonl", "memories.jsonl"


@dataclass(frozen=True, slots=True)
class StoreFiles:
    """Where the files of the shipped stores are."""

    folder: Path

    @property
    def labels(self) -> Path:
        """What every memory covers, as adjudicated."""
        return self.folder / LABELS

    @property
    def memories(self) -> Path:
        """The texts that the labels are about."""
        return self.folder / MEMORIES

    def store(self, name: str) -> Path:
        return self.folder / f"{name}.json"

    def salience(self, name: str) -> Path:
        """Write-time salience, scored by a reader who saw the store and no question."""
        return self.folder / f"salience-{name}.jsonl"


@contextmanager
def store_files() -> Iterator[StoreFiles]:
    """The files, on disk while the context lasts."""
    with as_file(files("memaudit").joinpath("examples", NATURAL, STORES_FOLDER)) as folder:
        yield StoreFiles(folder)


@cache
def natural_stores() -> tuple[ExportedStore, ...]:
    """Every shipped store, with the memories of all conversations."""
    # Packages by name are read in every worker of a run, which needs no reader of exports.
    from memaudit.stores.registry import read_imported

    with store_files() as shipped:
        return tuple(read_imported(shipped.store(name)) for name in STORES)
