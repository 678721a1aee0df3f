"""Another model looks at finished packages again, over real HTTP to a deterministic model."""

import json
from pathlib import Path

from memaudit.core.package import Package
from memaudit.io.packages import write_package
from memaudit.models.cache import Cache
from memaudit.models.session import open_session
from memaudit.natural.named_packages import short_set
from memaudit.natural.passes.second_look import check_examples, find_causes
from tests.cli.running import done, failure, printed_json
from tests.models.server import serving
from tests.natural.passes.building import live
from tests.natural.passes.fake_model import VERDICTS, blocks, plays


def doubtful() -> Package:
    """A package with one ambiguous question."""
    package = short_set()[0]
    first, *others = package.queries
    marked = first.model_copy(
        update={
            "importance": 0,
            "attributes": {**first.attributes, "status": "ambiguous", "reason": "two readings"},
        }
    )
    return package.replace(queries=(marked, *others))


def test_examples_are_adjudicated_again(tmp_path: Path) -> None:
    """By a hash of seed and name; every question that counts, with its units and nothing of the
    first verdict. A package is disputed if one of its questions is."""
    packages = [*short_set()[:4]]
    with serving(plays) as served:
        session = open_session(live(served.url), Cache(tmp_path / "cache"), tmp_path / "r.jsonl")
        check = check_examples(packages, session, "other", examples=2)
        again = check_examples(list(reversed(packages)), session, "other", examples=2)
    assert check == again
    assert len(check.packages) == 2
    asked = [blocks(body["messages"][1]["content"]) for body in served.bodies]
    assert len(asked) == len(check.verdicts)
    known = {package.name: package for package in packages}
    by_text = {data["question"]["question"]: data for data in asked}
    for name in check.packages:
        package = known[name]
        texts = {unit.id: unit.text for unit in package.units}
        for query in package.queries:
            data = by_text[query.text]
            statements = {row["unit"]: row["statement"] for row in data["units"]}
            required = [statements[row["unit"]] for row in data["proposal"]["required"]]
            assert sorted(required) == sorted(texts[unit] for unit in query.required)
            (found,) = [
                row for row in check.verdicts if (row.package, row.question) == (name, query.id)
            ]
            assert found.verdict == VERDICTS[len(query.text) % 4]
    assert sum(check.statuses.values()) == 2
    disputed = {row.package for row in check.verdicts if row.verdict in ("ambiguous", "rejected")}
    assert check.statuses["disputed"] == len(disputed)
    assert all(row.verdict != "accepted" for row in check.disagreements)


def test_causes(tmp_path: Path) -> None:
    """Only ambiguous and rejected questions are asked about."""
    with serving(plays) as served:
        session = open_session(live(served.url), Cache(tmp_path / "cache"), tmp_path / "r.jsonl")
        found = find_causes([doubtful(), short_set()[1]], session, "one")
    ((key, reply),) = found.items()
    assert key == (doubtful().name, doubtful().queries[0].id)
    assert reply is not None
    assert (reply.cause, reply.reason) == ("ordering", "ambiguous")


def test_the_command_shows_both(tmp_path: Path) -> None:
    path = tmp_path / "package.json"
    write_package(doubtful(), path)
    words = (
        "reliability",
        path,
        "--again",
        "model:other",
        "--causes",
        "model:one",
        "--yes",
        "--cache",
        tmp_path / "cache",
    )
    with serving(plays) as served:
        url = ("--base-url", served.url)
        text = done(*words, *url).stdout
        (data,) = printed_json(*words, *url)
    assert "        1  examples adjudicated again by other" in text
    assert "        1  ambiguous and rejected questions, by cause" in text
    assert "        1    depends on the order of statements" in text
    again = data["examples_again"]
    assert again["questions"] == len(doubtful().queries) - 1
    for row in again["disagreements"]:
        assert f"{row['package']}, {row['question']}: {row['verdict']}: {row['text']}" in text
    assert data["causes"] == {"depends on the order of statements": 1}
    assert json.loads(json.dumps(data)) == data
    assert "--again two: give a model as model:NAME" in failure(*words[:2], "--again", "two")
