"""Every package made again from its seed: digests are what they say."""

from collections.abc import Iterable
from pathlib import Path

from memaudit.core.digest import digest
from memaudit.generators.registry import named_distribution
from memaudit.io.packages import read_package
from memaudit.natural.build_plan import file_name
from memaudit.natural.named_packages import natural_set
from memaudit.reproduce.controlled import specs
from memaudit.reproduce.findings import PackageKey
from memaudit.reproduce.folder import NATURAL
from memaudit.reproduce.natural_results import FOLDER, NAME
from memaudit.reproduce.settings import Settings
from memaudit.reproduce.verify.report import Report
from memaudit.reproduce.verify.stated import Stated

Digests = dict[PackageKey, str]


def check_packages(folder: Path, stated: Stated, report: Report) -> Digests:
    """Compare the manifest's digests and the packages on disk; the true digests come back."""
    true = dict(digests(stated.settings))
    report.checked["packages"] = len(true)
    said = {
        (name, int(seed)): found
        for name, seeds in stated.packages.items()
        for seed, found in seeds.items()
    }
    for key in sorted(true.keys() | said.keys()):
        name = f"package {key[0]}, {key[1]}"
        if said.get(key) != true.get(key):
            report.same(name, "its digest in the manifest", said.get(key), true.get(key))
    for place, package in enumerate(natural_set()[: stated.settings.packages]):
        path = f"{NATURAL}/{FOLDER}/{file_name(package.name, 'json')}"
        with report.reading(path):
            found = digest(read_package(folder / path))
            report.same(path, "the digest of the package", found, true[NAME, place])
    return true


def digests(settings: Settings) -> Iterable[tuple[PackageKey, str]]:
    """The digest of every package, by distribution and seed."""
    stress = specs(settings.seeds)["stress"]
    for name in stress.distributions:
        distribution = named_distribution(name)
        alike = None if distribution.draws else digest(distribution.package(0))
        for seed in stress.seeds:
            yield (name, seed), alike or digest(distribution.package(seed))
    for place, package in enumerate(natural_set()[: settings.packages]):
        yield (NAME, place), digest(package)
