"""A plan made from a lint report, and the new files that it leads to.

Nothing is ever deleted: what a plan leaves of a file is written beside it.
"""

import os
from collections.abc import Collection
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path, PurePosixPath
from typing import Literal

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.exact import plain
from memaudit.kernel.io.file_model import ExactText, FileModel, validated
from memaudit.kernel.io.files import beside, read_text
from memaudit.kernel.io.foreign_json import loads
from memaudit.kernel.io.store_file import (
    ExportedStore,
    Memory,
    document_lines,
    read_store,
    store_text,
)
from memaudit.kernel.io.strict_json import read_object
from memaudit.kernel.number_text import percent
from memaudit.kernel.words.text import counted, one_line
from memaudit.linting.findings import LintReport, evidence
from memaudit.stores.plain_files import JsonlOrText
from memaudit.stores.protocol import ImportOptions
from memaudit.stores.registry import import_store, is_store

FORMAT: Literal["memaudit-plan"] = "memaudit-plan"
VERSION: Literal[1] = 1

ActionName = Literal["keep", "delete", "merge", "review"]


class Action(FileModel):
    """What to do with one memory, and why. `into` is the memory that stays in its place."""

    action: ActionName
    id: str
    reason: str
    text: str
    into: str | None = None
    document: str | None = None
    lines: tuple[int, int] | None = None
    call: str | None = None
    """What does it in the system's own API."""


class PlanFile(FileModel):
    format: Literal["memaudit-plan"]
    version: Literal[1]
    store: str
    store_format: str
    view: str | None
    digest: str
    """Of the store that was linted, in this view."""
    package: str | None
    basis: str
    """What the plan rests on, in a sentence."""
    cost_before: ExactText
    cost_after: ExactText
    actions: tuple[Action, ...]


ALSO_COVERED = "what it covers, the kept memories cover"
REVIEWED = ("secrets", "personal-data", "contradictions", "unsupported", "stale")
"""Rules whose memories are to be read before anything is done."""
GONE = ("delete", "merge")


def same_words(first: str, second: str) -> bool:
    """Whether two texts are the same but for spaces, a full stop at the end, and whether a word
    begins with a capital."""
    # content_key in kernel/words/text.py decides what counts once in a score and is wider on
    # purpose: it ignores all case and every end of a sentence. That is right for a value and
    # wrong for deleting: capitals within a word tell one password from another.
    words = [one_line(text).removesuffix(".").split() for text in (first, second)]
    return len(words[0]) == len(words[1]) and all(
        one[:1].casefold() + one[1:] == other[:1].casefold() + other[1:]
        for one, other in zip(*words, strict=True)
    )


def cleanup_plan(report: LintReport, store: ExportedStore) -> PlanFile:
    """Keep the smallest store that loses nothing, where labels or a model say what that is; else
    all but copies. What needs a reader's eye is marked for review and kept, and so is what only an
    estimate calls needless. Memories that were not looked over are not in the plan.
    """
    smallest = report.smallest.nothing_lost if report.smallest is not None else None
    wanted = set(smallest.memories) if smallest is not None else None
    merged = _merged(report, wanted)
    to_read = {
        id: f"{finding.rule}: {finding.message}"
        # A memory of several findings shows the first rule: later entries of a dict replace earlier
        # ones.
        for rule in reversed(REVIEWED)
        for finding in report.of(rule)
        for id in finding.memories
    }
    junk = {id for finding in report.of("junk") for id in finding.memories}
    memories = [memory for memory in store.active if memory.id in report.costs]
    texts = {memory.id: memory.text for memory in memories}
    actions = []
    for memory in memories:
        into = merged.get(memory.id)
        action: ActionName
        if memory.id in to_read:
            action, reason, into = "review", to_read[memory.id], None
        elif into is not None:
            sure = bool(report.model) or same_words(memory.text, texts[into])
            action = "merge" if sure else "review"
            reason = f"{'says' if sure else 'seems to say'} the same as {into}"
        elif wanted is not None and memory.id not in wanted:
            action = "review" if report.is_estimate else "delete"
            what = "covers none of these units" if memory.id in junk else ALSO_COVERED
            reason = f"{what}, by an estimate" if report.is_estimate else what
        else:
            action, reason = "keep", "" if wanted is None else "part of the smallest store"
        actions.append(_action(store, memory, action, reason, into))
    saved = sum(
        (report.costs[action.id] for action in actions if action.action in GONE), Fraction(0)
    )
    return PlanFile(
        format=FORMAT,
        version=VERSION,
        store=store.name,
        store_format=store.origin.format,
        view=store.origin.view,
        digest=store.digest,
        package=report.package or None,
        basis=_basis(report),
        cost_before=plain(report.cost),
        cost_after=plain(report.cost - saved),
        actions=tuple(actions),
    )


def _merged(report: LintReport, wanted: Collection[str] | None) -> dict[str, str]:
    """By memory, the copy that stays; of copies in the smallest store, that one."""
    merged: dict[str, str] = {}
    for finding in report.of("duplicates"):
        kept = [id for id in finding.memories if wanted is not None and id in wanted]
        keep = kept[0] if kept else finding.keep
        if keep is None or (wanted is not None and not kept):
            continue  # none of them is needed: they are deleted for what they cover
        merged |= {id: keep for id in finding.memories if id != keep and id not in kept}
    return merged


def _basis(report: LintReport) -> str:
    if report.smallest is None:
        return "copies alone: without units nothing is known about the worth of memories"
    best = report.smallest.nothing_lost
    share = percent(best.cost / report.cost if report.cost else None)
    return (
        f"{len(best.memories):,} of {counted(report.memories, 'memory')} ({share} of the cost) "
        f"keep all of what the store has for {report.units:,} units, {report.proven(best)}; what "
        "other questions need may be lost"
    )


def _action(
    store: ExportedStore, memory: Memory, action: ActionName, reason: str, into: str | None
) -> Action:
    return Action(
        action=action,
        id=memory.id,
        reason=reason,
        into=into,
        text=evidence("memory", memory.id, memory.text).text,
        document=memory.document,
        lines=memory.lines,
        call=_call(store.origin.format, memory) if action in GONE else None,
    )


def _call(format: str, memory: Memory) -> str | None:
    """How the system itself deletes a memory, where its API has a call for that."""
    if format in ("mem0", "mem0-search"):
        return f"memory.delete(memory_id={memory.id!r})"
    if format == "letta" and memory.document is None:
        return f"client.agents.passages.delete(agent_id=AGENT_ID, memory_id={memory.id!r})"
    if memory.document is not None and memory.lines is not None:
        first, last = memory.lines
        return f"delete lines {first} to {last} of {memory.document}"
    return None


def read_plan(path: Path) -> PlanFile:
    remedy = "give a plan that memaudit lint wrote"
    return validated(PlanFile, read_object(path, remedy), str(path), remedy)


@dataclass(frozen=True, slots=True)
class Cleaned:
    """What a plan leaves of a file or folder: the new path, and its files by their path in it."""

    path: Path
    files: dict[str, str]
    """For a single file, one text under an empty name."""
    removed: tuple[Action, ...]


def cleaned(plan: PlanFile, path: Path) -> Cleaned:
    """What a plan leaves of a file or folder: documents without the lines of what goes."""
    stored = path.is_file() and is_store(path)
    store = (
        read_store(path)
        if stored
        else import_store([path], plan.store_format, ImportOptions(view=plan.view))
    )
    # Lines are deleted by number, so a file that changed would lose the wrong ones.
    if store.digest != plan.digest:
        raise MemAuditError(
            f"{path}: has changed since the plan was made, or is another store; make the plan again"
        )
    gone = {action.id for action in plan.actions if action.action in GONE}
    if unknown := sorted(gone - {memory.id for memory in store.active}):
        raise MemAuditError(f"the plan names {unknown[0]!r}, which {path} does not have")
    removed = tuple(action for action in plan.actions if action.action in GONE)
    if stored:
        return Cleaned(_beside(path), {"": store_text(_without(store, gone))}, removed)
    if not store.documents:
        return Cleaned(_beside(path), {"": _lines_left(path, store, gone)}, removed)
    left = {
        document.id: _document_left(document.text, _lines_of(store, document.id, gone))
        for document in store.documents
    }
    if not path.is_dir():
        return Cleaned(_beside(path), {"": next(iter(left.values()))}, removed)
    for name in left:
        # A plan may come from somebody else, and names the files that are written.
        if PurePosixPath(name).is_absolute() or ".." in PurePosixPath(name).parts:
            raise MemAuditError(f"{name!r} is not inside {path}")
    return Cleaned(beside(path, ".cleaned"), left, removed)


def _without(store: ExportedStore, gone: Collection[str]) -> ExportedStore:
    """The store without some memories. Its documents are no longer what they were, so that entries
    stand for themselves."""
    apart = {"document": None, "lines": None}
    left = tuple(
        memory.model_copy(update=apart) for memory in store.memories if memory.id not in gone
    )
    update = {"name": f"{store.name}, cleaned", "memories": left, "documents": ()}
    return store.model_copy(update=update)


def _lines_of(store: ExportedStore, document: str, gone: Collection[str]) -> set[int]:
    """Lines that only memories which go stand on."""
    lines: dict[bool, set[int]] = {True: set(), False: set()}
    for memory in store.active:
        if memory.document == document and memory.lines is not None:
            lines[memory.id in gone].update(range(memory.lines[0], memory.lines[1] + 1))
    # A line that a kept memory stands on stays, also where another one goes.
    return lines[True] - lines[False]


def _document_left(text: str, without: Collection[int]) -> str:
    return "".join(
        line for number, line in enumerate(document_lines(text), start=1) if number not in without
    )


def _lines_left(path: Path, store: ExportedStore, gone: Collection[str]) -> str:
    """A file of texts or JSON rows, one on each line, in the order in which they were read."""
    lines = [] if path.is_dir() else read_text(path).splitlines(keepends=True)
    lines = [line for line in lines if line.strip()]
    pairs = list(zip(lines, store.memories, strict=False))
    fits = store.origin.format == JsonlOrText.name and len(lines) == len(store.memories)
    if not fits or not all(_is_row(line, memory) for line, memory in pairs):
        raise MemAuditError(
            f"{path}: is not a file with one memory per line; use the calls in the plan, or apply "
            "it to the store that memaudit import writes"
        )
    return "".join(line for line, memory in pairs if memory.id not in gone)


def _is_row(line: str, memory: Memory) -> bool:
    """Whether a line alone is this memory: its text, or a JSON object that has its text."""
    text = one_line(memory.text)
    try:
        row = loads(line)
    except ValueError:  # a line of text, or a piece of a larger JSON document
        return text in one_line(line) and not line.lstrip().startswith(("[{", '{"'))
    return isinstance(row, dict) and any(
        isinstance(value, str) and text in one_line(value) for value in row.values()
    )


def _beside(path: Path) -> Path:
    absolute = Path(os.path.abspath(path))
    named = absolute.with_name(f"{absolute.stem}.cleaned{absolute.suffix}")
    return path.parent / named.name
