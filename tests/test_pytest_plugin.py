"""The `memaudit_score` fixture, in test runs of its own."""

import subprocess
import sys
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package

pytest_plugins = ["pytester"]

SUITE = """
from fractions import Fraction
from memaudit.stores.registry import import_store
from memaudit.kernel.io.packages import read_package
from pathlib import Path

TEXTS = ["Ingrid wants hotel rooms away from the lift.", "Ingrid never wants breakfast booked."]

def test_texts(memaudit_score):
    found = memaudit_score("package.json", TEXTS, 40)
    assert 0 < found.score < 1
    assert (found.store, found.kept_by, found.is_estimate) == (
        "store under test", "everything fits", True)
    assert found.score == found.result[40].score
    found.at_least(found.score, allow_estimates=True)

def test_estimate(memaudit_score):
    memaudit_score("package.json", TEXTS, 40, judge="lexical").at_least(0)

def test_outside_the_interval(memaudit_score):
    found = memaudit_score("package.json", TEXTS, 40)
    low, high = found.result[40].interval
    assert 0 < low < found.score < high
    found.at_least(low)

def test_inside_the_interval(memaudit_score):
    found = memaudit_score("package.json", TEXTS, 40)
    found.at_least(found.score)

def test_the_same_from_objects(memaudit_score):
    Path("export.txt").write_text("\\n".join(TEXTS))
    store = import_store([Path("export.txt")])
    other = memaudit_score(read_package(Path("package.json")), store, Fraction(40))
    assert other.store == "export"
    assert other.score == memaudit_score(Path("package.json"), TEXTS, "40").score

def test_shares_and_own_costs(memaudit_score):
    own = memaudit_score("package.json", TEXTS, "own")
    assert (own.kept_by, own.result["own"].budget) == ("everything fits", 13)
    assert memaudit_score("package.json", TEXTS, "5%").kept_by == "recency"

def test_against(memaudit_score):
    Path("other.txt").write_text("Ingrid wants foam pillows.")
    other = import_store([Path("other.txt")])
    found = memaudit_score("package.json", TEXTS, 40, against=[other])
    assert [row.store for row in found.result] == ["store under test", "other"]
    assert found.score == found.result["store under test", 40].score
    assert found.score <= memaudit_score("package.json", TEXTS, 40).score

def test_cut(memaudit_score):
    assert memaudit_score("package.json", TEXTS, 6).kept_by == "recency"

def test_below(memaudit_score):
    memaudit_score("package.json", ["Anders works in Gothenburg."], 40).at_least(0.6, True)

def test_partly_read(memaudit_score):
    rows = ['{"text": "Ingrid never wants breakfast booked."}', '{"text": 5}']
    Path("torn.jsonl").write_text("\\n".join(rows))
    store = import_store([Path("torn.jsonl")], "plain")
    found = memaudit_score("package.json", store, 40)
    assert found.notes == ("PARTLY READ: 1 row of the export is not in the store",)
    assert found.certified
    found.at_least(0, allow_estimates=True)

def test_partly_read_below(memaudit_score):
    Path("torn.jsonl").write_text('{"text": "Anders works in Gothenburg."}\\n{"text": 5}')
    store = import_store([Path("torn.jsonl")], "plain")
    memaudit_score("package.json", store, 40, judge="lexical").at_least(0.6, True)

def test_options(memaudit_score):
    import json
    calls = {"instance_id": "hotel-rooms", "scores": {"text-1": 2, "text-2": 1}}
    Path("salience.jsonl").write_text(json.dumps(calls) + "\\n")
    found = memaudit_score("package.json", TEXTS, 8, policy="salience", salience="salience.jsonl",
                           group_cap=2, seconds=60)
    assert found.kept_by == "salience"
    assert found.score > 0
    asked = memaudit_score("package.json", TEXTS, 8, policy="query_salience",
                           query_salience="salience.jsonl")
    assert asked.kept_by == "query_salience"

def test_seconds(memaudit_score):
    memaudit_score("package.json", TEXTS, 40, seconds=-1)

def test_labels_by_id_of_two_stores(memaudit_score):
    Path("labels.csv").write_text("memory_id,unit_id,coverage\\nline-1,u1,1\\n")
    stores = []
    for name in ("one", "two"):
        Path(f"{name}.txt").write_text("Ingrid wants foam pillows.")
        stores.append(import_store([Path(f"{name}.txt")]))
    memaudit_score("package.json", stores[0], 40, judge="labels:labels.csv").at_least(0)
    memaudit_score("package.json", stores[0], 40, judge="labels:labels.csv", against=stores[1:])

def test_budget(memaudit_score):
    memaudit_score("package.json", TEXTS, "40 words")

def test_policy(memaudit_score):
    memaudit_score("package.json", TEXTS, 8, policy="salience")

def test_mistake(memaudit_score):
    memaudit_score("none.json", TEXTS, 40)

def test_judge(memaudit_score):
    memaudit_score("package.json", TEXTS, 40, judge="me")

def test_numbers_are_no_texts(memaudit_score):
    memaudit_score("package.json", [1, 2], 40)
"""


def test_scores_and_failures(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scores pass, a store below the bar and mistakes fail with one line each, no traceback."""
    # Named on the command line, so that it is found once, whether or not the project is installed.
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    write_package(short_set()[0], Path(pytester.path) / "package.json")
    pytester.makepyfile(SUITE)
    result = pytester.runpytest_subprocess("-p", "memaudit.pytest_plugin")
    result.assert_outcomes(passed=8, failed=11, warnings=4)
    result.stdout.fnmatch_lines(
        [
            "memaudit_score: not decided: the score of 'store under test' is an estimate, *",
            "memaudit_score: not decided: the score of 'store under test' is 0.*±0.* by an offline "
            "judge, and its error leaves 0.* open; *",
            "store under test at 40 scores 0.0000 (0.0000 to 0.* by the judge's error), minimum "
            "0.6, everything fits; over OPT of package + store under test; loses extraction "
            "100.0%; an ESTIMATE: 0.0% of the optimum and 0.0% of the store rest on assumed cells, "
            "and so does every 0; UNRELATED: no more than by chance; COVERS NOTHING of this "
            "package: was it written for the same conversation?",
            "torn at 40 scores 0.0000, minimum 0.6, everything fits; over OPT of package + torn; "
            "loses extraction 100.0%; an ESTIMATE: 0.0% of the optimum and 0.0% of the store rest "
            "on assumed cells, and so does every 0; PARTLY READ: 1 row of the export is not in the "
            "store; COVERS NOTHING of this package: was it written for the same conversation?",
            "memaudit_score: seconds must be above 0, not -1",
            "memaudit_score: two stores have a memory 'line-1', and labels labels names memories "
            "by id: *",
            "memaudit_score: budget '40 words': *; write a cost such as 250, a share of the "
            "conversation such as 10%, or own",
            "memaudit_score: 'store under test' has no salience for every memory; use recency",
            "memaudit_score: *none.json*does not exist*",
            "memaudit_score: unknown judge 'me'; known judges: *",
            "memaudit_score: a store of texts is a list of texts",
            "*StoreWarning: memaudit_score: torn: PARTLY READ: 1 row of the export is not in the "
            "store",
        ]
    )
    assert "Traceback" not in result.stdout.str()
    assert "During handling" not in result.stdout.str()
    assert "gate.py" not in result.stdout.str()


LINT_SUITE = """
SAID = ["Ann likes tea", "ann likes tea.", "Mail ann@example.org"]

def test_clean(memaudit_lint):
    found = memaudit_lint(SAID)
    found.has_no("secrets", "duplicates=1")
    assert found.report.counts["duplicates"] == 1

def test_duplicates(memaudit_lint):
    memaudit_lint(SAID).has_no("secrets", "duplicates")

def test_not_measured(memaudit_lint):
    memaudit_lint(SAID).has_no("junk")

def test_no_memory(memaudit_lint):
    memaudit_lint([])
"""


def test_lint(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    """A clean store passes; findings, open questions and mistakes fail with one line."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")
    pytester.makepyfile(LINT_SUITE)
    result = pytester.runpytest_subprocess("-p", "memaudit.pytest_plugin")
    result.assert_outcomes(passed=1, failed=3)
    result.stdout.fnmatch_lines(
        [
            "store under test: duplicates: 1 found; *: 2 memories with the same text; keep *",
            "memaudit_lint: fail_on junk: cannot be decided, needs a package with units",
            "memaudit_lint: 'store under test' has no active memory; there is nothing to look at",
        ]
    )
    assert "Traceback" not in result.stdout.str()


def test_start_up_stays_light() -> None:
    """Of ours, pytest loads the plugin alone; no solver, model or number library."""
    code = (
        "import sys, pytest; before = set(sys.modules); import memaudit.pytest_plugin; "
        "print(*sorted(set(sys.modules) - before))"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = set(ran.stdout.split())
    assert {name for name in loaded if name.startswith("memaudit")} == {
        "memaudit",
        "memaudit.pytest_plugin",
    }
    assert not loaded & {"numpy", "numba", "pydantic", "typer", "jinja2", "highspy"}
    assert len(loaded) < 10
