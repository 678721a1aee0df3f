"""Whatever is done to a package's files, reading gives problems, never a traceback."""

import json
import random
import tempfile
from pathlib import Path
from typing import Any

import pytest

from memaudit.core.package import Package
from memaudit.io.packages import problems_at, write_package
from memaudit.io.published_folder import write_artifact

JUNK: list[Any] = [
    None, True, 0, -1, 1.5, 10**70, 1e-300, "", "x", "m1", "1/0", "nan", "\ud800", "\u202e",
    [], [[]], [None], {}, {"": {}}, {"id": 1}, {"shape": "sqrt"}, {"shape": []}, [[1, "1/3"]],
]  # fmt: skip


def write_all(package: Package, place: Path) -> list[Path]:
    """The package in every form."""
    write_package(package, place / "p.json")
    write_package(package, place / "p")
    write_artifact([package, package.replace(name="b")], place / "a")
    return [place / "p.json", place / "p", place / "a"]


def spoil_value(value: Any, luck: random.Random) -> Any:
    """The value with one part somewhere inside replaced, removed or added."""
    if isinstance(value, dict) and value and luck.random() < 0.8:
        key = luck.choice(list(value))
        if luck.random() < 0.2:
            return {name: value[name] for name in value if name != key}
        return {**value, key: spoil_value(value[key], luck)}
    if isinstance(value, list) and value and luck.random() < 0.8:
        spot = luck.randrange(len(value))
        return [*value[:spot], spoil_value(value[spot], luck), *value[spot + 1 :]]
    return luck.choice(JUNK)


def spoil(path: Path, luck: random.Random) -> None:
    """Damage one file: its bytes, or one value in its JSON."""
    data = path.read_bytes()
    if luck.random() < 0.3:
        spot = luck.randrange(len(data) + 1)
        noise = bytes(luck.choice(b'{}[]",:\\\0\n\xff9e-') for _ in range(luck.randrange(3)))
        path.write_bytes(data[:spot] + noise + data[spot + luck.randrange(3) :])
    elif path.suffix == ".json":
        path.write_text(json.dumps(spoil_value(json.loads(data), luck)))
    else:
        rows = data.decode().splitlines() or ["{}"]
        spot = luck.randrange(len(rows))
        rows[spot] = json.dumps(spoil_value(json.loads(rows[spot]), luck))
        path.write_text("\n".join(rows))


@pytest.mark.parametrize("seed", range(40))
def test_damage_is_reported_or_harmless(tiny: Package, seed: int) -> None:
    """Problems have one line each; nothing is raised."""
    luck = random.Random(seed)
    with tempfile.TemporaryDirectory() as name:
        for path in write_all(tiny.replace(attributes={"a": [0.5]}), Path(name)):
            files = [path] if path.is_file() else sorted(path.iterdir())
            for _ in range(5):
                file = luck.choice(files)
                before = file.read_bytes()
                spoil(file, luck)
                for problem in problems_at(path):
                    assert "pydantic" not in str(problem)
                file.write_bytes(before)
