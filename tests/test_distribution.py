"""What is handed out: wheel and sdist, installed into an environment of its own, and the citation.

The new environment has nothing but the wheel. Its libraries are lent by a .pth line that names this
environment's site-packages, so that nothing is downloaded: a .pth line adds a folder at the end of
the path, does not read the .pth files in it, and so does not bring the editable install along.
"""

import json
import os
import re
import subprocess
import sys
import sysconfig
import tarfile
import zipfile
from pathlib import Path

import pytest
import yaml

from memaudit.kernel.version import DISTRIBUTION, VERSION

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "memaudit"
LENT = "lent.pth"


def quiet(*command: object, folder: Path) -> str:
    """What a command prints; it may not see this checkout or its settings."""
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PIP_"))
    }
    words = [str(part) for part in command]
    done = subprocess.run(
        words, cwd=folder, env=environment, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, and the wheel that is built from it, not from the checkout."""
    folder = tmp_path_factory.mktemp("dist")
    quiet(sys.executable, "-m", "build", "--no-isolation", "--outdir", folder, ROOT, folder=folder)
    return folder


@pytest.fixture(scope="module")
def environment(built: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A new virtual environment with the wheel alone, and libraries lent."""
    folder = tmp_path_factory.mktemp("environment")
    quiet(sys.executable, "-m", "venv", "--without-pip", folder, folder=folder)
    (wheel,) = built.glob("*.whl")
    quiet(
        sys.executable,
        "-m",
        "pip",
        "--python",
        folder / "bin" / "python",
        "install",
        "--quiet",
        "--no-deps",
        "--no-index",
        wheel,
        folder=folder,
    )
    (own,) = folder.glob("lib/python*/site-packages")
    (own / LENT).write_text(sysconfig.get_path("purelib") + "\n")
    return folder


@pytest.mark.slow
def test_the_wheel_carries_everything(built: Path) -> None:
    """Every file of the source, data too, and no leftovers of the compiler."""
    (wheel,) = built.glob("*.whl")
    assert wheel.name == f"{DISTRIBUTION.replace('-', '_')}-{VERSION}-py3-none-any.whl"
    names = set(zipfile.ZipFile(wheel).namelist())
    assert "memaudit/examples/travel.json" in names
    there = {
        f"memaudit/{path.relative_to(SOURCE).as_posix()}"
        for path in SOURCE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if name.startswith("memaudit/")} == there
    assert any(name.endswith("licenses/LICENSE") for name in names)


@pytest.mark.slow
def test_the_sdist_can_be_worked_with(built: Path) -> None:
    """Source, tests, documentation, licence and citation; nothing of this machine."""
    (sdist,) = built.glob("*.tar.gz")
    with tarfile.open(sdist) as archive:
        names = {name.partition("/")[2] for name in archive.getnames()}
    assert {
        "pyproject.toml",
        "README.md",
        "LICENSE",
        "CITATION.cff",
        "CHANGELOG.md",
        "Makefile",
        "src/memaudit/kernel/checker.py",
        "tests/conftest.py",
        "docs/packages.md",
        "schema/package.schema.json",
    } <= names
    foreign = re.compile(r"(^|/)(\.venv|__pycache__|out|\.git|\.mypy_cache)/")
    assert [name for name in names if foreign.search(name)] == []


@pytest.mark.slow
def test_it_runs_where_it_is_installed(environment: Path) -> None:
    """The wheel's own code: version, doctor, and the example it brings along, solved."""
    where = quiet(
        environment / "bin" / "python",
        "-c",
        "import memaudit; print(memaudit.__path__[0])",
        folder=environment,
    ).strip()
    assert Path(where).is_relative_to(environment)
    memaudit = environment / "bin" / "memaudit"
    assert quiet(memaudit, "--version", folder=environment) == f"memaudit {VERSION}\n"
    health = json.loads(quiet(memaudit, "doctor", "--json", folder=environment))
    assert health["healthy"] is True
    assert "models" in [extra["name"] for extra in health["extras"]]
    assert str(environment) in health["imported"]
    example = Path(where) / "examples" / "travel.json"
    solved = json.loads(
        quiet(memaudit, "solve", example, "--budget", "20", "--json", folder=environment)
    )
    assert [(one["value_exact"], one["certified"]) for one in solved] == [("12", True)]
    listed = quiet(memaudit, "study", "generate", "base", "--seed", "0", folder=environment)
    assert "base-0" in listed


def test_the_citation_has_what_the_format_asks_for() -> None:
    """Required keys of Citation File Format 1.2, this version, and nobody made up."""
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert {"cff-version", "message", "title", "authors"} <= cited.keys()
    assert str(cited["cff-version"]) == "1.2.0"
    assert cited["type"] == "software"
    assert cited["authors"] == [{"name": "The MemAudit contributors"}]
    assert cited["version"] == VERSION
    assert cited["license"] == "MIT"
    for reference in cited["references"]:
        assert {"type", "title", "authors"} <= reference.keys()
