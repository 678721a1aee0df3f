"""Compaction: stores rewritten to fit a budget, scored like any other."""

from fractions import Fraction as F
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.io.packages import write_package
from memaudit.kernel.io.store_file import ExportedStore, Memory, Origin, read_store, write_store
from memaudit.kernel.package.cost import words
from memaudit.lab.studies.compaction import compacted_store
from tests.building.passes.fake_model import blocks, plays
from tests.cli.running import done, failure, printed_json
from tests.models.server import serving


def store(*texts: str, example: str | None = None) -> ExportedStore:
    return ExportedStore(
        name="long",
        origin=Origin(system="x", format="x"),
        memories=tuple(
            Memory(id=f"m{place}", text=text, example=example, sources=(f"t{place}",))
            for place, text in enumerate(texts, start=1)
        ),
    )


NOTES = store(
    "We talked for a while, it was nice. On 3 May 2025 Ann moved to Rome. The weather was fine.",
    "On 3 May 2025 Ann moved to Rome.",
    "Bo pays 40 euros a month for the studio. He sighed a lot about it.",
)


@pytest.mark.parametrize("budget", [0, 6, 9, 17, 100])
def test_extracts_fit_and_are_in_the_store_word_for_word(budget: int) -> None:
    """Sentences with names, numbers and dates first, none twice; each memory names its source."""
    made = compacted_store(NOTES, F(budget), "words", "short")
    assert sum(words(memory.text) for memory in made.memories) <= budget
    texts = {memory.id: memory.text for memory in NOTES.memories}
    for memory in made.memories:
        made_from = memory.metadata["made_from"]
        assert isinstance(made_from, list)
        (source,) = map(str, made_from)
        assert memory.sources == (source.replace("m", "t"),)
        assert all(one in texts[source] for one in memory.text.split(". "))
    if budget == 17:
        assert made.memories[0].text.startswith("On 3 May 2025 Ann moved to Rome.")
    if budget == 100:
        assert "Ann moved" not in " ".join(memory.text for memory in made.memories[1:])


def test_each_conversation_for_itself() -> None:
    """The budget is that of a conversation, and ids stay apart."""
    both = store("Ann likes tea a lot.", example="a").memories
    other = store("Bo likes cake a lot.", example="b").memories
    joined = NOTES.model_copy(
        update={"memories": (*both, *(m.model_copy(update={"id": "n1"}) for m in other))}
    )
    made = compacted_store(joined, F(5), "words", "short")
    assert [(m.id, m.example, m.text) for m in made.memories] == [
        ("a/1", "a", "Ann likes tea a lot."),
        ("b/1", "b", "Bo likes cake a lot."),
    ]


def test_by_a_model(tmp_path: Path) -> None:
    """It sees texts and the number of words. What names no source, or no longer fits, is left
    out; the result is scored beside the original by the same judge."""
    package = short_set()[0]
    texts = [one.text for one in package.candidates if one.kind not in ("raw", "session")][:5]
    long, path = tmp_path / "long.json", tmp_path / "package.json"
    write_store(store(*texts), long)
    write_package(package, path)
    out = tmp_path / "short.json"
    room = sum(map(words, texts)) + 1
    line = (
        "study",
        "compact",
        long,
        "--budget",
        str(room),
        "--out",
        out,
        "--model",
        "one",
        "--set",
        "model.yes=true",
        "--set",
        f"model.cache={tmp_path / 'cache'}",
    )
    with serving(plays) as served:
        text = done(*line, "--set", f"model.base_url={served.url}").stdout
    data = blocks(served.bodies[0]["messages"][1]["content"])
    assert [row["text"] for row in data["memories"]] == texts
    assert (data["words"], set(data)) == (room, {"memories", "words"})
    assert text.startswith("5 memories became 4 memories")
    made = read_store(out)
    assert made.memories[0].text == f"{texts[0]} and {texts[1]}"
    assert made.memories[0].metadata["made_from"] == ["m1", "m2"]
    assert made.origin.configuration["compacted_how"] == "by one, compaction/1"
    scores = printed_json("score", path, long, out, "--judge", "lexical", "--budget", "100")
    assert [row["store"] for row in scores["scores"]] == ["long", "long, compacted"]
    assert "leaves room for nothing" in failure(*line[:3], "--budget", "0", "--out", out)
