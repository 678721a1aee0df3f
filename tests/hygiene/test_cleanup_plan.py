"""Plans, and what they leave of files: nothing is deleted, and kept lines stay as they are."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.adapters.registry import import_store
from memaudit.adapters.store import read_store, write_store
from memaudit.core.errors import MemAuditError
from memaudit.hygiene.cleanup_plan import cleaned_files, cleanup_plan, read_plan
from memaudit.hygiene.lint import LintPlan, lint
from tests.cli.running import done, failure
from tests.hygiene.stores import memory, store
from tests.hygiene.test_lint import SAID, labelled, subject

NOTES = """# Work
- Deploys only on Tuesdays
- Uses tabs in Python

## Release
- Tags are signed

# Work
- deploys only on tuesdays.
- Cat is called Miso
"""


def test_actions(tmp_path: Path) -> None:
    """With units the smallest store stays; what needs a reader's eye is kept for review."""
    report = lint(SAID, LintPlan(subject(), labelled(tmp_path)))
    plan = cleanup_plan(report, SAID)
    actions = {one.id: (one.action, one.reason) for one in plan.actions}
    assert actions["m1"] == ("delete", "what it covers, the kept memories cover")
    assert actions["m4"] == ("delete", "covers none of these units")
    assert actions["m2"][0] == "review"
    assert actions["m3"] == ("keep", "part of the smallest store")
    calls = {one.id: one.call for one in plan.actions}
    assert (calls["m1"], calls["m3"]) == ("memory.delete(memory_id='m1')", None)
    assert plan.basis.startswith("2 of 4 memories (56% of the cost) keep all")
    assert (plan.cost_before, plan.cost_after) == (25, 14)


def test_copies_in_the_smallest_store() -> None:
    """Without units all copies but one go, whichever system it is."""
    both = store(memory("a", "Likes green tea a lot"), memory("b", "likes green tea a lot."),
                 format="letta")  # fmt: skip
    plan = cleanup_plan(lint(both), both)
    assert [(one.action, one.into) for one in plan.actions] == [("merge", "b"), ("keep", None)]
    assert "passages.delete" in str(plan.actions[0].call)


def test_a_memory_file(tmp_path: Path) -> None:
    """Headings and other lines stay byte for byte; the old file too."""
    path, plan = tmp_path / "MEMORY.md", tmp_path / "plan.json"
    path.write_text(NOTES)
    done("lint", path, "--plan", plan)
    shown = done("apply", plan, path, "--dry-run").stdout
    assert "-- Deploys only on Tuesdays" in shown or "-- deploys only on tuesdays." in shown
    assert not (tmp_path / "MEMORY.cleaned.md").exists()
    result = done("apply", plan, path)
    assert "MEMORY.cleaned.md written without 1 memory" in result.stdout.replace("\n", "")
    left = (tmp_path / "MEMORY.cleaned.md").read_text()
    assert left.lower().count("deploys only on tuesdays") == 1
    assert set(left.splitlines()) < set(NOTES.splitlines())
    assert path.read_text() == NOTES
    assert "already exists" in failure("apply", plan, path)
    path.write_text(NOTES + "- New\n")
    assert "has changed since the plan was made" in failure("apply", plan, path)


def test_folders_lines_and_stores(tmp_path: Path) -> None:
    """A folder becomes another folder; a file of lines loses lines; a store loses memories."""
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("- Cat is called Miso\n")
    (folder / "deep" / "b.md").write_text("- Cat is called Miso\n- Rents a flat\n")
    plan = cleanup_plan(lint(import_store([folder])), import_store([folder]))
    made = {
        file.new.relative_to(tmp_path).as_posix(): file.after
        for file in cleaned_files(plan, folder)
    }
    assert set(made) == {"notes.cleaned/a.md", "notes.cleaned/deep/b.md"}
    assert "".join(made.values()).count("Miso") == 1
    lines = tmp_path / "facts.jsonl"
    lines.write_text(
        '{"text": "Cat is called Miso"}\n{"text": "cat is called Miso."}\n{"text": "x"}\n'
    )
    opened = import_store([lines])
    (file,) = cleaned_files(cleanup_plan(lint(opened), opened), lines)
    assert file.after.count("Miso") == 1
    assert file.after.endswith('{"text": "x"}\n')
    saved = tmp_path / "store.json"
    write_store(opened, saved)
    (file,) = cleaned_files(cleanup_plan(lint(opened), opened), saved)
    file.new.write_text(file.after)
    assert len(read_store(file.new).active) == 2


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["- a b c d", "- a b c D.", "# head", "", "text x y", "- e f g"])))
def test_kept_lines_are_never_changed(
    tmp_path_factory: pytest.TempPathFactory, said: list[str]
) -> None:
    """What is left is the file without some of its lines, in their order."""
    path = tmp_path_factory.mktemp("file") / "NOTES.md"
    path.write_text("- first entry\n" + "".join(f"{line}\n" for line in said))
    opened = import_store([path])
    (file,) = cleaned_files(cleanup_plan(lint(opened), opened), path)
    left = iter(file.before.splitlines(keepends=True))
    assert all(line in left for line in file.after.splitlines(keepends=True))


def test_a_file_that_is_no_plan(tmp_path: Path) -> None:
    path = tmp_path / "plan.json"
    path.write_text('{"format": "memaudit-plan", "version": 1}')
    with pytest.raises(MemAuditError, match="give a file of memaudit lint --plan"):
        read_plan(path)
