"""No text of the project installs MemAudit by name: on the package index, that name is not ours."""

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest

from memaudit.kernel.version import DISTRIBUTION, VERSION

ROOT = Path(__file__).parents[1]
FOLDERS = (".ci", "bench", "docs", "schema", "src", "systems", "tests")

NAME = r"(?<![\w./-])memaudit(?:[-_.]oracle)?(?![\w/-]|\.\w)"
"""The name alone, with extras or a version or a version; not a path, a module or a wheel."""

BY_NAME = re.compile(
    rf"""
    (?: \b pip[\d.x]* \s+ (?:install|download|wheel)
      | \b (?:uv|pdm|poetry) \s+ add
      | \b uv \s+ tool \s+ install
      | \b (?:conda|mamba) \s+ install
    ) (?: \s+ | [^\n`;|&\#]* [ \t'"=] ) {NAME}
    | (?: \b (?:uvx | uv\s+tool\s+run | pipx\s+run) \s+ (?: --(?:from|spec)[ =] )?
        | \b uv \s+ run \s [^\n`]* --with[ =]
      ) ['"]? {NAME}
    | {NAME} \[ [a-z]
    | (?: ^ | ["'] ) {NAME} \s* [=~<>]= \s* \d
    """,
    re.MULTILINE | re.VERBOSE,
)


def by_name(text: str) -> list[str]:
    """Commands and requirements that take the name to a package index."""
    joined = re.sub(r"\\\n\s*", " ", text)
    return [found[0] for found in BY_NAME.finditer(joined)]


def texts() -> Iterator[tuple[Path, str]]:
    """Every text file of the project, but not this one."""
    files = [path for path in ROOT.iterdir() if path.is_file()]
    files += [path for folder in FOLDERS for path in (ROOT / folder).rglob("*") if path.is_file()]
    for path in sorted(files):
        if path == Path(__file__) or "__pycache__" in path.parts:
            continue
        try:
            yield path.relative_to(ROOT), path.read_text(encoding="utf-8")
        except UnicodeDecodeError:  # an image
            continue


def test_every_install_line_is_ours() -> None:
    read = {str(path): text for path, text in texts()}
    assert {
        "README.md",
        "Makefile",
        "docs/how-to/ci-gate.md",
        "src/memaudit/kernel/errors.py",
    } <= set(read)
    assert {path: found for path, text in read.items() if (found := by_name(text))} == {}


@pytest.mark.parametrize(
    "line",
    [
        "pip install memaudit",
        "Run `pip install memaudit`.",
        "pip install 'memaudit[models]'",
        'pip install "memaudit[models,dask]"',
        "python -m pip install --quiet --upgrade memaudit",
        "pip3.11 install numpy memaudit==0.1.0",
        "pip install \\\n    memaudit",
        "pip install\nmemaudit",
        "pip install memaudit-oracle",
        "pip install memaudit_oracle>=0.1",
        "pip download memaudit",
        "uv pip install memaudit",
        "uv add memaudit",
        "uv tool install memaudit",
        "uvx memaudit demo",
        "uvx --from memaudit-oracle memaudit",
        "uv run --with memaudit python x.py",
        "pipx install memaudit",
        "pipx run memaudit doctor",
        "conda install -c conda-forge memaudit",
        "needs `memaudit[bench]`",
        "memaudit==0.1.0",
        'dependencies = ["memaudit>=0.1"]',
    ],
)
def test_a_line_by_name_is_found(line: str) -> None:
    assert by_name(f"before\n{line}\nafter\n") != []


@pytest.mark.parametrize(
    "line",
    [
        "pip install .",
        "pip install '.[models]'",
        "pip install '.[models]'\nmemaudit doctor",
        "pip install . && memaudit demo",
        "pip install wheels/memaudit_oracle-*.whl",
        "pip install 'memaudit_oracle-0.1.0-py3-none-any.whl[models]'",
        "pip wheel --no-deps -w wheels .",
        "pip install --editable /somewhere/memaudit",
        "pip uninstall memaudit",
        "uvx --from . memaudit demo",
        "Run `pip install .`. Then `memaudit demo` works.",
        "memaudit score p.json s.json",
        "memaudit 0.1.0",
    ],
)
def test_a_line_of_ours_is_not(line: str) -> None:
    assert by_name(f"before\n{line}\nafter\n") == []


def test_the_name_and_version_of_the_wheel() -> None:
    """pyproject.toml agrees with the code, and documents name the wheel that it builds."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert project["name"] == DISTRIBUTION
    wheel = re.compile(r"\bmemaudit[\w.*-]*\.whl")
    named = {
        found for path, text in texts() if path.parts[0] != "tests" for found in wheel.findall(text)
    }
    stem = DISTRIBUTION.replace("-", "_")
    assert named == {f"{stem}-*.whl", f"{stem}-{VERSION}-py3-none-any.whl"}
