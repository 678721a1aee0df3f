"""Lint from a store alone up to a package with units: findings worked out by hand."""

import json
from fractions import Fraction as F
from pathlib import Path

import pytest

from memaudit.building.named_packages import natural_set, natural_stores
from memaudit.judges.label_judges import LabelJudge
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.package import Package
from memaudit.linting.findings import LintReport, failing
from memaudit.linting.lint import LintPlan, lint
from memaudit.linting.lint_file import LintFile, lint_data, sarif
from memaudit.models.cache import Cache
from memaudit.models.session import open_session
from memaudit.stores.registry import import_store
from tests.building.passes.building import live
from tests.building.passes.fake_model import plays
from tests.cli.running import write_rows
from tests.linting.stores import memory, package, store, texts
from tests.models.server import serving

UNITS = (
    ("u1", "fact", "Ann is allergic to peanuts."),
    ("u2", "stale", "Ann lives in Leeds."),
    ("u3", "current", "Ann lives in Bristol."),
    ("u4", "fact", "Ann has a cat."),
    ("u5", "fact", "Nobody asks for this."),
)
TURNS = ("I am allergic to peanuts.", "I live in Leeds.", "We moved to Bristol.", "I have a cat.")
SAID = store(
    memory("m1", "Ann is allergic to peanuts"),
    memory("m2", "Ann lives in Leeds"),
    memory("m3", "Ann is severely allergic to peanuts and has a cat"),
    memory("m4", "Weather in Lisbon is terribly rainy"),
    memory("m5", "Ann lives in Bristol", state="deleted"),
)
CELLS: dict[str, dict[str, float]] = {
    "m1": {"u1": 1},
    "m2": {"u2": 1},
    "m3": {"u1": 1, "u4": 0.5},
    "m5": {"u3": 1},
    "m4": {"u5": 1},
}


def subject() -> Package:
    """Units of weight 1, but for the last, which no question requires."""
    asked = [{"id": "q", "text": "?", "required": [id for id, *_ in UNITS[:-1]]}]
    return package(*UNITS, turns=TURNS, queries=asked)


def labelled(folder: Path, said: ExportedStore = SAID) -> LabelJudge:
    rows = [
        {"memory_id": one, "unit_id": unit, "coverage": level}
        for one, units in CELLS.items()
        for unit, level in units.items()
    ]
    known = [{"memory_id": one.id, "text": one.text} for one in said.memories]
    return LabelJudge(
        [write_rows(folder / "labels.jsonl", *rows)], [write_rows(folder / "texts.jsonl", *known)]
    )


def found(report: LintReport) -> dict[str, list[tuple[str, ...]]]:
    rules = {finding.rule for finding in report.findings}
    return {rule: [one.memories for one in report.of(rule)] for rule in rules}


def test_with_units(tmp_path: Path) -> None:
    """m4 covers only a unit that nobody requires; m1 is covered by m3 too; m2 is out of
    date; the deleted m5 still holds. Of 5 + 4 + 10 + 6 words, m2 and m3 keep all. The
    earlier export had Bristol; now it is deleted, and the finding says which memory was."""
    report = lint(SAID, LintPlan(subject(), labelled(tmp_path)))
    rules = found(report)
    assert rules["junk"] == [("m4",)]
    assert rules["redundant"] == [("m1",)]
    assert rules["stale"] == [("m2",)]
    assert rules["retired"] == [("m5",)]
    assert ("m4",) in rules["unsupported"]
    assert (report.units, report.unweighted_units) == (4, 1)
    assert report.smallest is not None
    best = report.smallest.nothing_lost
    assert (set(best.memories), best.cost, best.certified) == ({"m2", "m3"}, 14, True)
    assert report.share("junk") == (1, 6)
    assert set(report.unmeasured) == {"limits", "lost-updates"}
    earlier = store(*(one.model_copy(update={"state": "active"}) for one in SAID.memories))
    report = lint(SAID, LintPlan(subject(), labelled(tmp_path), before=earlier))
    (lost,) = report.of("lost-updates")
    assert lost.memories == ("m5",)
    assert lost.message == "covered in full before, not now: m5 was deleted"


def test_the_store_alone() -> None:
    """Duplicates with the copy to keep, secrets, and what could not be measured. The same
    words of two users are no duplicates."""
    report = lint(
        texts(
            "User works night shifts at the harbour clinic",
            "The user works night shifts at the harbour clinic.",
            "Mail is ann@example.org",
        )
    )
    (duplicates,) = report.of("duplicates")
    assert (duplicates.memories, duplicates.keep, duplicates.cost) == (("m1", "m2"), "m2", F(8))
    (personal,) = report.of("personal-data")
    assert personal.message == "e-mail address a***@example.org"
    assert "ann@" not in json.dumps(lint_data(report))
    unmeasured = "junk limits lost-updates redundant retired stale unsupported"
    assert " ".join(sorted(report.unmeasured)) == unmeasured
    one = memory("a", "Likes tea with milk and sugar", namespace="ann")
    assert not lint(store(one, one.model_copy(update={"id": "b", "namespace": "bo"}))).findings
    both = lint(store(one, one.model_copy(update={"id": "b"})))
    assert [finding.rule for finding in both.findings] == ["duplicates"]


def test_limits_of_a_file(tmp_path: Path) -> None:
    """What stands beyond line 200 of MEMORY.md is not read by Claude Code."""
    path = tmp_path / "MEMORY.md"
    path.write_text("".join(f"- fact number {n} about topic{n}\n" for n in range(1, 204)))
    report = lint(import_store([path]))
    (limit,) = report.of("limits")
    assert limit.message == (
        "MEMORY.md has 203 lines, claude-code reads the first 200: 3 memories cut off"
    )
    assert len(limit.memories) == 3
    other = lint(import_store([path]), LintPlan(system="hermes"))
    assert "hermes reads the first 2,200" in other.of("limits")[0].message
    with pytest.raises(MemAuditError, match="no limits of 'zep' are known; known: claude-code"):
        lint(import_store([path]), LintPlan(system="zep"))


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (store(), "'s' has no active memory; there is nothing to look at"),
        (store(memory("a", "x", state="deleted")), "'s' has no active memory"),
        (texts("", "  "), "no memory has a text"),
        (
            store().model_copy(update={"memories": (memory("a", "x"),) * 200_001}),
            "200,001 memories, at most 200,000",
        ),
    ],
)
def test_nothing_or_too_much_to_look_at(given: ExportedStore, message: str) -> None:
    with pytest.raises(MemAuditError, match=message):
        lint(given)


def test_one_memory_and_another_conversation() -> None:
    """One memory is fine. Memories of another conversation are told, not just listed."""
    assert lint(texts("Ann swims")).findings == ()
    other = natural_stores()[0].active_by_example["greyhound-knee"]
    strange = store(*(one.model_copy(update={"example": None}) for one in other))
    report = lint(strange, LintPlan(natural_set()[0].replace(queries=(), units=(), coverage=())))
    assert any(note.startswith("UNRELATED: nothing in the conversation") for note in report.notes)


def test_a_model_decides(tmp_path: Path) -> None:
    """Pairs that words leave in doubt and every memory's support are asked about, blind."""
    said = texts("Ann drives a red car", "Ann drives a red van", "I have a cat")
    with serving(plays) as served:
        session = open_session(live(served.url), Cache(tmp_path / "cache"))
        report = lint(said, LintPlan(package(turns=TURNS), None, None, "one", session))
    assert found(report)["contradictions"] == [("m1", "m2")]
    assert found(report)["unsupported"] == [("m1",), ("m2",)]
    assert "support: model:one" in report.notes
    assert "u1" not in json.dumps(served.bodies)


def test_gates() -> None:
    report = lint(texts("Call +44 20 7946 0958", "the same words here", "The same words here."))
    assert failing(report, ["error"]) == []
    assert failing(report, ["warning"]) == ["warning: 2 found"]
    assert failing(report, ["duplicates=1", "personal-data"]) == ["personal-data: 1 found"]
    for wrong, message in (("dupes", "'dupes' is none of error"), ("secrets=x", "is not a number")):
        with pytest.raises(MemAuditError, match=message):
            failing(report, [wrong])
    with pytest.raises(MemAuditError, match="cannot be decided, needs a package with units"):
        failing(report, ["junk"])


def test_files(tmp_path: Path) -> None:
    """The JSON is of its model, and the SARIF has a place for every finding. No secret is in any of
    them, nor in findings about support, which name words that no turn says."""
    report = lint(SAID, LintPlan(subject(), labelled(tmp_path)))
    read = LintFile.model_validate(json.loads(json.dumps(lint_data(report))))
    assert len(read.findings) == len(report.findings)
    assert {row.rule for row in read.rules if row.unmeasured} == set(report.unmeasured)
    run = sarif(report, SAID)["runs"][0]
    known = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    assert all(known[one["ruleIndex"]] == one["ruleId"] for one in run["results"])
    assert all(one["locations"] for one in run["results"])
    said = texts("The router password is Tr0ub4dor93xx since May", "Ann has a cat")
    report = lint(said, LintPlan(subject(), labelled(tmp_path, said)))
    assert "tr0ub4dor93xx" not in json.dumps([lint_data(report), sarif(report, said)]).lower()


def test_the_newer_one_is_named_only_if_it_is_known() -> None:
    """By times as precise as both have; without times by the order of writing, if that is known."""
    one, other = "Ann drives a red car", "Ann does not drive a red car"
    for times, newer in (
        (("2024-01-01", "2024-02-01"), "b"),
        (("2024-02-01", "2024-01-01"), "a"),
        (("2024-01-01T12:00:00", "2024-01-01"), None),
        (("2024-01-01", None), None),
        ((None, None), "b"),
    ):
        pair = store(memory("a", one, created_at=times[0]), memory("b", other, created_at=times[1]))
        (found,) = lint(pair).of("contradictions")
        assert found.keep == newer, times
    unknown = store(memory("a", one), memory("b", other), warnings=("order of writing unknown: x",))
    assert lint(unknown).of("contradictions")[0].keep is None


def test_a_file_is_measured_as_it_is(tmp_path: Path) -> None:
    """Two of four bullets under a long heading are needed: the smallest file has the heading and
    these two, and costs add up to the file."""
    path = tmp_path / "notes.md"
    head = "# A very long heading of many words that every entry stands below"
    path.write_text(f"{head}\n- Ann has a cat\n- It rains\n- Ann is allergic to nuts\n- So what\n")
    opened = import_store([path])
    rows = [
        {"memory_id": one.id, "unit_id": unit, "coverage": 1}
        for one in opened.active
        for word, unit in (("cat", "u4"), ("nuts", "u1"))
        if word in one.text
    ]
    known = [{"memory_id": one.id, "text": one.text} for one in opened.active]
    judge = LabelJudge(
        [write_rows(tmp_path / "l.jsonl", *rows)], [write_rows(tmp_path / "m.jsonl", *known)]
    )
    report = lint(opened, LintPlan(subject(), judge))
    assert report.smallest is not None
    best = report.smallest.nothing_lost
    assert len(best.memories) == 2
    assert best.cost == report.cost - sum(
        report.costs[one.memories[0]] for one in report.of("junk")
    )
    assert report.cost == len(path.read_text().split())
