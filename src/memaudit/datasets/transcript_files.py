"""The transcripts in a folder: the one kind of dataset that is not a single file."""

from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.io.files import names_in

ENDINGS = frozenset({".md", ".markdown", ".txt"})


def transcript_files(folder: Path) -> list[Path]:
    """The folder's own Markdown and text files by name; an error if there are none."""
    files = [path for path in _visible(folder) if is_transcript(path)]
    if not files:
        raise MemAuditError(
            f"{folder.name or folder}: is a folder without transcripts "
            f"({', '.join(sorted(ENDINGS))}); give a file or a folder that holds some"
        )
    return files


def other_entries(folder: Path) -> list[str]:
    """The names of everything else in the folder that is not hidden."""
    return [path.name for path in _visible(folder) if not is_transcript(path)]


def is_transcript(path: Path) -> bool:
    return path.suffix.lower() in ENDINGS and not path.is_dir()


def _visible(folder: Path) -> list[Path]:
    return [folder / name for name in names_in(folder) if not name.startswith(".")]
