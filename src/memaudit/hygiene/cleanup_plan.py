"""A plan made from a lint report, and the new files that it leads to.

Nothing is ever deleted: what a plan leaves of a file is written beside it.
"""

from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from memaudit.adapters.documents import document_lines
from memaudit.adapters.registry import import_store
from memaudit.adapters.store import ExportedStore, Memory, read_store, store_text
from memaudit.core.cost import cost_rule
from memaudit.core.errors import MemAuditError
from memaudit.core.exact import plain
from memaudit.core.number_text import percent
from memaudit.core.text import content_key, counted
from memaudit.formats.file_model import validated
from memaudit.formats.plan_file import FORMAT, VERSION, Action, ActionName, PlanFile
from memaudit.hygiene.findings import LintReport, evidence
from memaudit.io.files import open_regular, read_text
from memaudit.io.strict_json import read_object
from memaudit.scoring.written_store import MEMORY

HEAD = 4096
ALSO_COVERED = "what it covers, the kept memories cover"
REVIEWED = ("secrets", "contradictions", "unsupported", "stale")
"""Rules whose memories are to be read before anything is done."""


def cleanup_plan(report: LintReport, store: ExportedStore) -> PlanFile:
    """Keep the smallest store that loses nothing, where labels or a model say what that is; else
    all but duplicates. What needs a reader's eye is marked for review and kept, and so is what
    only an estimate calls needless.
    """
    smallest = report.smallest.nothing_lost if report.smallest is not None else None
    wanted = set(smallest.memories) if smallest is not None else None
    merged = _merged(report, wanted)
    looked_at = {
        id: f"{finding.rule}: {finding.message}"
        for rule in reversed(REVIEWED)
        for finding in report.of(rule)
        for id in finding.memories
    }
    junk = {id for finding in report.of("junk") for id in finding.memories}
    texts = {memory.id: memory.text for memory in store.active}
    actions = []
    for memory in store.active:
        into = merged.get(memory.id)
        action: ActionName
        if into is not None:
            sure = bool(report.model) or content_key(memory.text) == content_key(texts[into])
            action = "merge" if sure else "review"
            reason = f"{'says' if sure else 'seems to say'} the same as {into}"
        elif wanted is not None and memory.id not in wanted:
            action = "review" if report.is_estimate else "delete"
            what = "covers none of these units" if memory.id in junk else ALSO_COVERED
            reason = f"{what}, by an estimate" if report.is_estimate else what
        elif memory.id in looked_at:
            action, reason = "review", looked_at[memory.id]
        else:
            action, reason = "keep", "" if wanted is None else "part of the smallest store"
        actions.append(_action(store, memory, action, reason, into))
    kept = {one.id for one in actions if one.action in ("keep", "review")}
    measure = cost_rule(report.cost_rule)
    after = sum(measure(one.text, MEMORY, one.metadata) for one in store.active if one.id in kept)
    return PlanFile(
        format=FORMAT, version=VERSION, store=store.name, store_format=store.origin.format,
        digest=store.digest, files=dict(store.origin.files), package=report.package or None,
        basis=_basis(report), cost_before=plain(report.cost), cost_after=after,
        actions=tuple(actions),
    )  # fmt: skip


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
        return "duplicates alone: without units nothing is known about the worth of memories"
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
    gone = action in ("delete", "merge")
    return Action(
        action=action, id=memory.id, reason=reason, into=into,
        text=evidence("memory", memory.id, memory.text).text,
        document=memory.document, lines=memory.lines,
        call=_call(store.origin.format, memory) if gone else None,
    )  # fmt: skip


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
    remedy = "give a file of memaudit lint --plan"
    return validated(PlanFile, read_object(path, remedy), str(path), remedy)


@dataclass(frozen=True, slots=True)
class CleanedFile:
    """A file, and what a plan leaves of it."""

    old: Path
    new: Path
    before: str
    after: str


def cleaned_files(plan: PlanFile, path: Path) -> list[CleanedFile]:
    """What a plan leaves of a file or folder: documents without the lines of what goes."""
    is_store = _is_store(path)
    store = read_store(path) if is_store else import_store([path], plan.store_format)
    if store.digest != plan.digest and (is_store or store.origin.files != plan.files):
        raise MemAuditError(
            f"{path}: has changed since the plan was made, or is another store; run memaudit lint "
            "--plan again"
        )
    gone = {one.id for one in plan.actions if one.action in ("delete", "merge")}
    if is_store:
        # The documents are no longer what they were, so that entries stand for themselves.
        apart = {"document": None, "lines": None}
        left = tuple(one.model_copy(update=apart) for one in store.memories if one.id not in gone)
        update = {"name": f"{store.name}, cleaned", "memories": left, "documents": ()}
        made = store.model_copy(update=update)
        return [CleanedFile(path, _beside(path), store_text(store), store_text(made))]
    if not store.documents:
        text = read_text(path) if path.is_file() else ""
        return [CleanedFile(path, _beside(path), text, _lines_left(text, path, store, gone))]
    return [
        CleanedFile(
            path / document.id if path.is_dir() else path,
            _place(path, document.id),
            document.text,
            _document_left(document.text, _lines_of(store, document.id, gone)),
        )
        for document in store.documents
    ]


def _is_store(path: Path) -> bool:
    if not path.is_file():
        return False
    with open_regular(path) as file:
        return b'"memaudit-store"' in file.read(HEAD)


def _lines_of(store: ExportedStore, document: str, gone: Collection[str]) -> set[int]:
    """Lines that only memories which go stand on."""
    lines: dict[bool, set[int]] = {True: set(), False: set()}
    for memory in store.active:
        if memory.document == document and memory.lines is not None:
            lines[memory.id in gone].update(range(memory.lines[0], memory.lines[1] + 1))
    return lines[True] - lines[False]


def _document_left(text: str, without: Collection[int]) -> str:
    return "".join(
        line for number, line in enumerate(document_lines(text), start=1) if number not in without
    )


def _lines_left(text: str, path: Path, store: ExportedStore, gone: Collection[str]) -> str:
    """A file with one memory on each line, as text or JSON."""
    lines = [line for line in text.splitlines(keepends=True) if line.strip()]
    if len(lines) != len(store.memories):
        raise MemAuditError(
            f"{path}: is not a file with one memory per line; use the calls in the plan, or apply "
            "it to the store that memaudit import writes"
        )
    pairs = zip(lines, store.memories, strict=True)
    return "".join(line for line, memory in pairs if memory.id not in gone)


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.stem}.cleaned{path.suffix}")


def _place(path: Path, document: str) -> Path:
    """The new place of a document of a file or a folder."""
    if not path.is_dir():
        return _beside(path)
    inside = PurePosixPath(document)
    if inside.is_absolute() or ".." in inside.parts:
        raise MemAuditError(f"{document!r} is not inside {path}")
    return path.with_name(f"{path.name}.cleaned") / inside
