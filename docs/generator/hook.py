"""Hooks for mkdocs: pages generated from the code, and titles for tagged fences."""

import re
import sys
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

ROOT = Path(__file__).parents[2]
if str(ROOT) not in sys.path:  # mkdocs loads this file by its path, alone
    sys.path.insert(0, str(ROOT))

from docs.generator.commands import command_page  # noqa: E402
from docs.generator.fence_titles import titled  # noqa: E402
from docs.generator.public_names import python_page  # noqa: E402
from docs.generator.schema_page import schema_page  # noqa: E402

MADE = {
    "reference/commands.md": command_page,
    "reference/python.md": python_page,
    "reference/schema.md": schema_page,
}
LAST_SECTION = "Reference"


def on_config(config: Any) -> Any:
    """Append pages that the navigation does not name to the reference."""
    named = set(re.findall(r"'([\w/-]+\.md)'", repr(config.nav)))
    there = {path.relative_to(config.docs_dir).as_posix() for path in _pages(config.docs_dir)}
    (section,) = (part[LAST_SECTION] for part in config.nav if LAST_SECTION in part)
    section.extend(sorted(there - named))
    return config


def _pages(folder: str) -> list[Path]:
    return sorted(Path(folder).rglob("*.md"))


def on_files(files: Files, config: Any) -> Files:
    """Add the pages that are generated from the code."""
    for path, page in MADE.items():
        files.append(File.generated(config, path, content=page()))
    return files


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Fences as mkdocs knows them; the project's README is the first page here."""
    return titled(markdown).replace("](../README.md)", "](index.md)")
