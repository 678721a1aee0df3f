"""Two embedded conversations from end to end: live, then again from the cache with no call."""

import json
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.build_folder import packages_at
from memaudit.building.passes.build import build_summary
from memaudit.building.reliability import reliability_of
from memaudit.kernel.checker import PackageChecker
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.package.cost import words
from memaudit.kernel.package.digest import digest
from memaudit.kernel.package.package import Package
from memaudit.kernel.package.unit_parts import whole_units
from memaudit.kernel.solvers.solve import solve
from memaudit.models.cache import Cache, export_cache, import_cache
from memaudit.models.prompts import PROMPTS, pass_prompt
from memaudit.models.session import ModelSettings
from tests.building.passes.building import PLAIN, RECIPE, TWO, FinishedBuild, live, make
from tests.building.passes.fake_model import answer, instead, sentences, which
from tests.models.server import serving

JUDGE, QUOTE = "model:one:coverage/2", "exact:quote"


@pytest.fixture(scope="module")
def packages(built: FinishedBuild) -> dict[str, Package]:
    return {one.name: one for one in packages_at(built.folder / "out")}


def test_every_pass_was_asked(built: FinishedBuild) -> None:
    """Two sources, eight questions; other models adjudicate and check; no second askings."""
    asked = Counter((which(body), body["model"]) for body in built.served.bodies)
    judged = asked.pop(("coverage", "one")), asked.pop(("coverage", "other"))
    assert min(judged) >= 2
    assert asked == {
        ("memories", "one"): 2,
        ("units", "one"): 2,
        ("requirements", "one"): 8,
        ("adjudication", "other"): 8,
    }


def test_optimum_is_certified(packages: dict[str, Package]) -> None:
    for package in packages.values():
        optimum = solve(package, 40)
        assert optimum.status == "certified"
        assert optimum.certificate is not None
        assert PackageChecker(package).verify(optimum.certificate).valid
        assert optimum.value > 0


def test_candidates(packages: dict[str, Package]) -> None:
    """Raw turns by rule and sentences by the model, all costed alike, at the turn they cite."""
    package = packages["hotel-rooms"]
    turn = {one.id: one for one in package.experiences}
    for one in package.candidates:
        assert one.cost == words(one.text)
        assert one.text in turn[one.experience].text
    makers = Counter((one.kind, one.generator) for one in package.candidates)
    assert makers[("raw", "rule:raw")] == 11
    assert set(makers) == {("raw", "rule:raw"), ("fact", "model:one:memories/2")}
    texts = [one.text for one in package.candidates if one.experience == "t11"]
    assert texts == [
        "perfect. You're better than the agency, they once put me over a nightclub.",
        "perfect.",
        "You're better than the agency, they once put me over a nightclub.",
    ]


def test_coverage_is_what_the_fake_judge_says(packages: dict[str, Package]) -> None:
    """Row by row: quotes decide their own turns, containment the rest; nones are written too."""
    values = {"full": 1, "partial": Fraction(1, 2), "none": 0}
    seen = set()
    for package in packages.values():
        units = {one.id: one for one in package.units}
        required = {unit for query in package.queries for unit in query.required}
        for row in package.coverage:
            unit, text = units[row.unit], package.candidate[row.candidate].text
            wanted = unit.text.removesuffix(" (checked)")
            label = "full" if wanted in text else "partial" if text in wanted else "none"
            own = row.candidate == f"{unit.sources[0].id}/raw"
            assert (row.label, row.provenance) == (label, QUOTE if own else JUDGE)
            assert row.value == values[label]
            seen.add(label)
        judged = {(row.candidate, row.unit) for row in package.coverage}
        everything = {(one.id, unit) for one in package.candidates for unit in required}
        assert everything <= judged  # no cell of a required unit is left to silence
        assert all(
            (units[unit].attributes.get("judged") is False) == (unit not in required)
            for unit in units
        )
    assert seen == {"full", "partial", "none"}


def test_verdicts(packages: dict[str, Package], built: FinishedBuild) -> None:
    """By the length of each question mod 4; what is out of the pool weighs nothing but stays."""
    names = ("accepted", "corrected", "ambiguous", "rejected")
    found: Counter[str] = Counter()
    for package in packages.values():
        for query in package.queries:
            status = names[len(query.text) % 4]
            if status == "corrected" and not query.attributes.get("required_before"):
                status = "rejected"  # the fake corrects only what has units
            if status == "accepted" and not query.required:
                status = "unsupported"  # both say that no unit supports the answer
            assert query.attributes["status"] == status
            assert query.attributes["scoring_pool"] is (status in names[:2])
            assert query.importance == (1 if status in names[:2] else 0)
            assert query.attributes["adjudicated_by"] == "model:other:adjudication/2"
            found[status] += 1
    assert built.made.manifest["adjudication"]["queries"] == {
        **{name: found[name] for name in (*names, "unsupported")},
        "unadjudicated": 0,
        "failed": 0,
        "contradicted": 0,
    }
    assert set(names) <= found.keys()


def test_corrections_are_applied_with_provenance(packages: dict[str, Package]) -> None:
    """A reworded unit keeps what it said before, and who changed it for which question."""
    reworded = [
        (unit, query)
        for package in packages.values()
        for unit in package.units
        for query in package.queries
        if "text_before" in unit.attributes and query.id == unit.attributes["text_for"]
    ]
    assert reworded
    for unit, query in reworded:
        assert unit.text == f"{unit.attributes['text_before']} (checked)"
        assert unit.attributes["text_by"] == "model:other:adjudication/2"
        assert query.required == (unit.id,)
        before = query.attributes["required_before"]
        assert isinstance(before, list)
        assert unit.id in before


def test_manifest(built: FinishedBuild, packages: dict[str, Package]) -> None:
    data = json.loads((built.folder / "out" / "manifest.json").read_text())
    assert data["prompts"] == [pass_prompt(name).to_json() for name in PROMPTS]
    assert data["models"] == RECIPE.models
    assert data["parameters"] == {"temperature": 0.0, "max_tokens": 4096, "seed": 0}
    assert data["usage"]["calls"] == len(built.served.bodies)
    assert data["usage"]["prompt_tokens"] == 10 * len(built.served.bodies)
    for one in data["packages"]:
        package = packages[one["name"]]
        assert one["digest"] == digest(package)
        assert one["status"] == package.attributes["status"]
        assert one["failures"] == {}
        assert one["cells"]["undecided"] == 0
    spent = [row["calls"] for one in data["packages"] for row in one["usage"].values()]
    assert sum(spent) == len(built.served.bodies)
    assert (built.folder / "out" / "failures.jsonl").read_text() == "".join(
        json.dumps(row, sort_keys=True, separators=(",", ":")) + "\n"
        for name in TWO
        for row in [one.to_json() for one in built.made.session.ledger.of(name)]
    )


def test_spot_check_reports_agreement(built: FinishedBuild) -> None:
    """The stricter model turns every sampled partial cell into none, and agrees on the rest."""
    total = built.made.manifest["spot_check"]
    labels = {(row["judge"], row["checker"]): row["cells"] for row in total["labels"]}
    assert set(labels) == {("full", "full"), ("none", "none"), ("partial", "none")}
    assert total["cells"] == sum(labels.values())
    assert total["same"] == total["cells"] - labels["partial", "none"]
    rows = [
        row for one in built.made.manifest["packages"] for row in one["spot_check"]["disagreements"]
    ]
    assert len(rows) == labels["partial", "none"]
    assert {(row["judge"], row["checker"]) for row in rows} == {("partial", "none")}


def test_reliability_and_summary_read_the_folder(built: FinishedBuild) -> None:
    """The construction table counts packages by status; the summary adds up its entries."""
    manifest = built.made.manifest
    found = reliability_of(built.folder / "out")
    assert found.verdicts is not None
    assert sum(found.verdicts.values()) == sum(manifest["statuses"].values()) == 2
    assert found.quotes.checked == found.quotes.found == manifest["counts"]["units"]
    text = "\n".join(build_summary(manifest, Path("here")))
    assert text.startswith("2 packages in here\n")
    assert f"{manifest['spot_check']['cells']:>9,}  cells judged again by other" in text
    # the fake's memories are sentences; of a turn of one sentence, that is the turn itself
    turns = [one for package in packages_at(built.folder / "out") for one in package.experiences]
    whole = sum(len(sentences(one.text)) == 1 for one in turns)
    assert text.endswith(f"{whole:>9,}  items refused\n{whole:>9,}    memories: repeats its turn")


def copy_cache(built: FinishedBuild, folder: Path) -> None:
    with Cache(built.folder / "cache") as cache:
        export_cache(cache, folder / "replies.jsonl")
    with Cache(folder / "cache") as cache:
        assert import_cache(cache, folder / "replies.jsonl").problems == []


def test_replay_elsewhere_with_no_call(built: FinishedBuild, tmp_path: Path) -> None:
    """Cache exported, imported, and the build repeated offline: equal files, byte by byte."""
    copy_cache(built, tmp_path)
    again = make(tmp_path, ModelSettings(provider="offline"))
    assert again.session.client.spent.calls == 0
    for path in sorted((built.folder / "out").iterdir()):
        assert (tmp_path / "out" / path.name).read_bytes() == path.read_bytes()
    assert make(tmp_path, ModelSettings(provider="offline")).manifest["kept"] == 2
    other = replace(RECIPE, adjudicator="third")
    with pytest.raises(MemAuditError, match=r"another build \(different: models\)"):
        make(tmp_path, ModelSettings(provider="offline"), other)


def test_offline_without_the_answers_stops(tmp_path: Path) -> None:
    with pytest.raises(MemAuditError, match=r"pass memories: 2 of 2 .* import the cache"):
        make(tmp_path, ModelSettings(provider="offline"))
    assert not (tmp_path / "out").exists()


def test_without_an_adjudicator(built: FinishedBuild, tmp_path: Path) -> None:
    """The same cache serves it; questions whose answer no unit supports are out of the pool."""
    copy_cache(built, tmp_path)
    # hotel-rooms' corrected unit and requirements differ, so its coverage was never asked
    made = make(tmp_path, ModelSettings(provider="offline"), PLAIN, ("film-night",))
    (entry,) = made.manifest["packages"]
    assert entry["status"] == "unadjudicated"
    assert entry["queries"]["unadjudicated"] + entry["queries"]["unsupported"] == 4
    assert made.manifest["adjudication"] is None
    assert made.manifest["spot_check"] is None


def test_parts_become_units(tmp_path: Path) -> None:
    """The model names the first word of every unit and the rest, which is the core. What it says
    is kept is covered; a turn with the unit's quote keeps all parts."""

    def with_parts(body: dict[str, Any]) -> str:
        reply = answer(body)
        for row in reply["units"]:
            who, _, what = row["statement"].partition(" ")
            row["parts"] = [{"part": "what", "words": what}, {"part": "who", "words": who}]
        return json.dumps(reply)

    with serving(instead("units", with_parts)) as served:
        make(tmp_path, live(served.url), PLAIN, TWO[:1])
    (package,) = packages_at(tmp_path / "out")
    wholes = whole_units(package.units)
    assert all(whole.has_parts for whole in wholes)
    assert [name for name, _ in wholes[0].parts] == ["what", "who"]
    required = {id for query in package.queries for id in query.required}
    assert required
    assert required <= {unit.id for unit in package.units}
    cells = {(row.candidate, row.unit): row for row in package.coverage}
    quoted = [at for at, row in cells.items() if row.provenance == QUOTE]
    assert len(quoted) == len(package.units)
    judged = [row for row in cells.values() if row.provenance == JUDGE]
    assert {row.value for row in judged} == {0, 1}
    for whole in wholes:
        assert sum(package.weights[unit.id] for unit in whole.units) in range(9)
        for candidate in package.candidates:
            core, other = (cells.get((candidate.id, unit.id)) for unit in whole.units)
            assert not (other and other.value) or (core and core.value)
    optimum = solve(package, 40)
    assert optimum.certified
    assert optimum.value > 0
