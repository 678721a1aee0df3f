"""Plans, and what they leave of files: nothing is deleted, and kept lines stay as they are."""

from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import read_store, write_store
from memaudit.linting.cleanup_plan import cleaned, cleanup_plan, same_words
from memaudit.linting.lint import LintPlan, lint
from memaudit.stores.registry import import_store
from tests.cli.running import done, failure
from tests.linting.stores import memory, store
from tests.linting.test_lint import SAID, labelled, subject

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
    assert actions["m4"][0] == "review"
    assert actions["m4"][1].startswith("unsupported: nothing in the conversation says it")
    assert actions["m2"][0] == "review"
    assert actions["m3"] == ("keep", "part of the smallest store")
    calls = {one.id: one.call for one in plan.actions}
    assert (calls["m1"], calls["m3"]) == ("memory.delete(memory_id='m1')", None)
    assert plan.basis.startswith("2 of 4 memories (56% of the cost) keep all")
    assert (plan.cost_before, plan.cost_after) == (25, 20)


def test_copies_in_the_smallest_store() -> None:
    """Without units all copies but one go, whichever system it is."""
    both = store(
        memory("a", "Likes green tea a lot"), memory("b", "likes green tea a lot."), format="letta"
    )
    plan = cleanup_plan(lint(both), both)
    assert [(one.action, one.into) for one in plan.actions] == [("merge", "b"), ("keep", None)]
    assert "passages.delete" in str(plan.actions[0].call)


def test_a_memory_file(tmp_path: Path) -> None:
    """Headings and other lines stay byte for byte; the old file too."""
    path, plan = tmp_path / "MEMORY.md", tmp_path / "plan.json"
    path.write_text(NOTES)
    done("lint", path, "--out", plan)
    shown = done("lint", path, "--apply", plan, "--dry-run").stdout
    assert "eploys only on" in shown
    assert "(merge: says the same as" in shown
    assert not (tmp_path / "MEMORY.cleaned.md").exists()
    result = done("lint", path, "--apply", plan)
    assert "MEMORY.cleaned.md written without 1 memory" in result.stdout.replace("\n", "")
    left = (tmp_path / "MEMORY.cleaned.md").read_text()
    assert left.lower().count("deploys only on tuesdays") == 1
    assert set(left.splitlines()) < set(NOTES.splitlines())
    assert path.read_text() == NOTES
    assert "already exists" in failure("lint", path, "--apply", plan)
    path.write_text(NOTES + "- New\n")
    assert "has changed since the plan was made" in failure("lint", path, "--apply", plan)


def test_folders_lines_and_stores(tmp_path: Path) -> None:
    """A folder becomes another folder; a file of lines loses lines; a store loses memories."""
    folder = tmp_path / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.md").write_text("- Cat is called Miso\n")
    (folder / "deep" / "b.md").write_text("- Cat is called Miso\n- Rents a flat\n")
    plan = cleanup_plan(lint(import_store([folder])), import_store([folder]))
    found = cleaned(plan, folder)
    assert found.path == tmp_path / "notes.cleaned"
    assert set(found.files) == {"a.md", "deep/b.md"}
    assert "".join(found.files.values()).count("Miso") == 1
    done("lint", folder, "--out", tmp_path / "plan.json")
    done("lint", folder, "--apply", tmp_path / "plan.json")
    for name, text in found.files.items():
        assert (tmp_path / "notes.cleaned" / name).read_text() == text
    assert "already exists" in failure("lint", folder, "--apply", tmp_path / "plan.json")
    lines = tmp_path / "facts.jsonl"
    lines.write_text(
        '{"text": "Cat is called Miso"}\n{"text": "cat is called Miso."}\n{"text": "x"}\n'
    )
    opened = import_store([lines])
    text = cleaned(cleanup_plan(lint(opened), opened), lines).files[""]
    assert text.count("Miso") == 1
    assert text.endswith('{"text": "x"}\n')
    saved = tmp_path / "store.json"
    write_store(opened, saved)
    left = cleaned(cleanup_plan(lint(opened), opened), saved)
    left.path.write_text(left.files[""])
    assert len(read_store(left.path).active) == 2


@settings(max_examples=40, deadline=None)
@given(st.lists(st.sampled_from(["- a b c d", "- a b c D.", "# head", "", "text x y", "- e f g"])))
def test_kept_lines_are_never_changed(
    tmp_path_factory: pytest.TempPathFactory, said: list[str]
) -> None:
    """What is left is the file without some of its lines, in their order."""
    path = tmp_path_factory.mktemp("file") / "NOTES.md"
    path.write_text("- first entry\n" + "".join(f"{line}\n" for line in said))
    opened = import_store([path])
    text = cleaned(cleanup_plan(lint(opened), opened), path).files[""]
    left = iter(path.read_text().splitlines(keepends=True))
    assert all(line in left for line in text.splitlines(keepends=True))


def test_only_lines_that_are_the_memory(tmp_path: Path) -> None:
    """Rows that the importer sorts, and arrays with a row on each line, are refused: a line would
    not be the memory of its number."""
    sorted_rows = tmp_path / "mem0.jsonl"
    sorted_rows.write_text(
        "".join(
            f'{{"id": "m{n}", "memory": "{text}", "user_id": "a", "hash": "h", '
            f'"created_at": "202{9 - n}-01-01"}}\n'
            for n, text in enumerate(("Carl sails", "Ann is a vegetarian", "Ann is a vegetarian"))
        )
    )
    array = tmp_path / "array.json"
    array.write_text('[{"id": "a", "text": "Tea is good"},\n{"id": "b", "text": "Tea is good"}]\n')
    for path in (sorted_rows, array):
        opened = import_store([path])
        with pytest.raises(MemAuditError, match="is not a file with one memory per line"):
            cleaned(cleanup_plan(lint(opened), opened), path)


def test_what_was_not_looked_over_is_not_in_the_plan(tmp_path: Path) -> None:
    """Bob's memories belong to another conversation; the plan for Ann's says nothing of them."""
    mine = [one.model_copy(update={"example": "p"}) for one in SAID.memories]
    both = store(*mine, memory("bob", "Bob swims", example="q"))
    plan = cleanup_plan(lint(both, LintPlan(subject(), labelled(tmp_path))), both)
    assert {one.id for one in plan.actions} == {"m1", "m2", "m3", "m4"}
    assert plan.cost_before == 25


def test_another_view_and_unknown_ids(tmp_path: Path) -> None:
    path = tmp_path / "N.md"
    path.write_text("- Tea is good\n- Tea is good\n")
    opened = import_store([path])
    plan = cleanup_plan(lint(opened), opened)
    other = plan.model_copy(update={"view": "lines"})
    with pytest.raises(MemAuditError, match="has changed since"):
        cleaned(other, path)
    gone = [one.model_copy(update={"id": "nope"}) for one in plan.actions if one.action == "merge"]
    with pytest.raises(MemAuditError, match="names 'nope', which"):
        cleaned(plan.model_copy(update={"actions": tuple(gone)}), path)


@pytest.mark.parametrize(
    ("first", "second", "same"),
    [
        ("Ann likes tea", "ann  likes tea.", True),
        ("The password is aBcDeF12", "The password is AbCdEf12", False),
        ("Ann wants children!", "Ann wants children?", False),
        ("Is Ann ill?", "Is Ann ill.", False),
    ],
)
def test_what_counts_as_a_copy(first: str, second: str, same: bool) -> None:
    assert same_words(first, second) is same


def test_secrets_are_never_deleted(tmp_path: Path) -> None:
    """A memory with a secret that no unit needs is for a reader to decide on."""
    with_secret = store(*SAID.memories, memory("s", "Router password is Tr0ub4dor93xx"))
    judge = labelled(tmp_path, with_secret)
    plan = cleanup_plan(lint(with_secret, LintPlan(subject(), judge)), with_secret)
    action = next(one for one in plan.actions if one.id == "s")
    assert action.action == "review"
    assert "Tr0ub4dor93xx" not in plan.model_dump_json()


def test_applying_takes_no_other_option(tmp_path: Path) -> None:
    """A plan is finished: nothing is looked for again. Another file is no plan."""
    path, plan = tmp_path / "MEMORY.md", tmp_path / "plan.json"
    path.write_text(NOTES)
    done("lint", path, "--out", plan)
    words = ("lint", path, "--apply", plan)
    assert "leave out --fail-on" in failure(*words, "--fail-on", "secrets")
    assert "leave out PACKAGE" in failure("lint", path, path, "--apply", plan)
    assert "--dry-run needs --apply PLAN" in failure("lint", path, "--dry-run")
    plan.write_text('{"format": "memaudit-plan", "version": 1}')
    assert "give a plan that memaudit lint wrote" in failure(*words)


def test_nothing_to_remove(tmp_path: Path) -> None:
    """No file is written, and what is for the reader to decide is listed."""
    path, plan = tmp_path / "MEMORY.md", tmp_path / "plan.json"
    path.write_text("- The api key is sk-proj-aB3dE6gH9jK2mN5pQ8sTuV\n")
    done("lint", path, "--out", plan)
    shown = done("lint", path, "--apply", plan).stdout
    assert "removes nothing" in shown
    assert "kept, for you to decide: 1 memory" in shown
    assert "? MEMORY.md:L1: secrets" in shown
    assert not (tmp_path / "MEMORY.cleaned.md").exists()
