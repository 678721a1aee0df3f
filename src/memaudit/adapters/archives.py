"""Zip archives, read only: members are read by name into memory, nothing is unpacked to disk."""

import io
import struct
import zipfile
import zlib
from pathlib import Path

from memaudit.core.errors import MemAuditError
from memaudit.core.text import one_line, shortened
from memaudit.io.files import open_regular, read_bytes
from memaudit.io.foreign_json import encodable

MAGICS = (b"PK\x03\x04", b"PK\x05\x06")
"""An archive with members, and an empty one."""

MOST_MEMBERS = 10_000
LARGEST_DIRECTORY = 1 << 20
"""Bytes of the list of members, which is read before anything else."""

LARGEST_RATIO = 200
"""Bytes that a compressed byte may become; texts become about ten."""

ANY_RATIO = 1 << 20
"""Bytes up to which a member may be compressed in any way."""

LONGEST_FAULT = 120
PIECE = 1 << 16
METHODS = (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED)
ENCRYPTED = 0x1

_BROKEN = (
    zipfile.BadZipFile,
    zlib.error,
    struct.error,
    EOFError,
    NotImplementedError,
    OSError,
    OverflowError,
    RuntimeError,
    ValueError,
)
"""What the zipfile module raises for damaged or hostile archives."""


def is_archive(path: Path, name: str) -> bool:
    with open_regular(path, name) as file:
        return file.read(4) in MAGICS


class Archive:
    """The members of a zip file by their names; all that is read is at most `max_bytes`."""

    def __init__(self, path: Path, name: str, max_bytes: int) -> None:
        data = read_bytes(path, max_bytes, name)
        self.name = name
        # Members may share their bytes, so the archive as a whole has the bound of a member too.
        self.most = self.left = min(max_bytes, max(ANY_RATIO, LARGEST_RATIO * len(data)))
        file = _GuardedFile(data)
        file.label = name
        try:
            self._zip = zipfile.ZipFile(file)
        except _BROKEN as error:
            raise self._damaged(error) from None
        members = self._zip.infolist()
        if len(members) > MOST_MEMBERS:
            raise MemAuditError(_too_many(name))
        # Not is_dir(), which fails on a name without a character.
        self.members = [member for member in members if not member.filename.endswith("/")]

    @property
    def names(self) -> list[str]:
        return [member.filename for member in self.members]

    def read(self, wanted: str) -> bytes:
        """The content of a member, checked before it is unpacked and while it is."""
        found = [member for member in self.members if member.filename == wanted]
        place = f"{self.name}: {encodable(wanted)}"
        if len(found) != 1:
            raise MemAuditError(f"{place} is in the archive {len(found)} times")
        (member,) = found
        if member.flag_bits & ENCRYPTED:
            raise MemAuditError(f"{place} is encrypted (unpack it with its password first)")
        if member.compress_type not in METHODS:
            raise MemAuditError(f"{place} is compressed in an unusual way (unpack it first)")
        if member.file_size > max(ANY_RATIO, LARGEST_RATIO * member.compress_size):
            raise MemAuditError(
                f"{place} would become more than {LARGEST_RATIO} times as large as it is in the "
                "archive, which is not opened"
            )
        if member.file_size > self.left:
            raise MemAuditError(
                f"{place} is too large: {member.file_size:,} bytes; of this archive at most "
                f"{self.most:,} are read"
            )
        self.left -= member.file_size
        pieces = []
        try:
            with self._zip.open(member) as stream:
                while piece := stream.read(PIECE):  # never more than file_size in total
                    pieces.append(piece)
        except _BROKEN as error:
            raise self._damaged(error) from None
        return b"".join(pieces)

    def _damaged(self, error: Exception) -> MemAuditError:
        fault = shortened(one_line(encodable(str(error))), LONGEST_FAULT)
        return MemAuditError(
            f"{self.name}: is a damaged or truncated zip archive: {fault} (download it again)"
        )


class _GuardedFile(io.BytesIO):
    """The bytes of an archive. The zipfile module reads the list of members at once, of whatever
    size the file claims it to be."""

    label = ""

    def read(self, size: int | None = -1, /) -> bytes:
        if size is not None and size > LARGEST_DIRECTORY:
            raise MemAuditError(_too_many(self.label))
        return super().read(size)


def _too_many(name: str) -> str:
    return f"{name}: holds too many members for an export, at most {MOST_MEMBERS:,} are listed"
