"""`memaudit score` and `memaudit gate` on a store from a plain export."""

import json
import re
from pathlib import Path

import pytest

from memaudit.building.named_packages import short_set
from tests.cli.running import done, failure, import_texts, printed_json, run, write_rows
from tests.published_layout import write_artifact
from tests.stores.exports import EXPORTS

Files = tuple[Path, Path]


def test_printed(hotel_files: Files) -> None:
    """An estimate is called one. The policy that cut a store over budget is named, and the score
    stands with its error beside a random cut and the best subset. What is kept and lost sums to 1.
    The store as it is comes after what was asked for. --all adds the other numbers, a line of
    meaning for each, and kinds of units."""
    words = ("score", *hotel_files, "--budget", "20,40")
    text = done(*words).stdout
    rows = [line.split() for line in text.splitlines() if line.startswith(" export ")]
    scores, shares, verdict = rows[:2], rows[2:4], rows[4:]
    assert [row[:3] for row in scores] == [["export", "20", "recency"], ["export", "40", "all"]]
    for row in scores:
        score, random_cut, best = row[3:]
        kept, error = map(float, score.split("±"))
        assert 0 < error < 0.5
        assert 0 < float(random_cut) <= float(best) <= 1
        assert kept <= float(best)
    for row in shares:
        assert sum(float(share.rstrip("%")) for share in row[2:]) == pytest.approx(100, abs=0.3)
        assert len(row) == 7
    ((_, memories, _, cost, *_),) = verdict
    assert (memories, cost) == ("4", "36")
    assert text.index("score: what a store keeps") < text.index("complete: what the whole store")
    assert "of everything that could be said, in " in " ".join(text.split())
    assert "judge offline, an ESTIMATE by a small trained model" in text
    assert "a±b: the score under the judge's published error, 24 draws; by chance a score" in text
    assert "score: what a store keeps within the budget, over OPT of" in text
    assert "--all prints the other numbers" in text
    for more in ("by kind of unit", "/ package", "F(Y)"):
        assert more not in text
    everything = done(*words, "--all").stdout
    head = next(line for line in everything.splitlines() if "F(Y)" in line)
    columns = head.split("budget")[1].replace("/ ", "/").split()
    assert columns == ["F(Y)", "F(kept)", "/package", "/union", "recency"]
    assert "for its size" in everything
    assert "for its size" not in text
    for column in columns:
        start = f"{column.replace('/', '/ ')}: "
        assert sum(line.startswith(start) for line in everything.splitlines()) == 1
    for more in ("export at 20, by kind of unit", "preference", "less what was gained for it"):
        assert more in everything
    assert "--all prints" not in everything


@pytest.fixture
def turns(hotel_files: Files) -> Path:
    """A second store: three turns of the conversation, word for word."""
    raw = [one.text for one in short_set()[0].candidates if one.kind == "raw"][:3]
    return import_texts(hotel_files[0].with_name("turns.json"), raw)


def test_budgets_of_each_store(hotel_files: Files, turns: Path) -> None:
    """10% is the same cost for both, 22 of 219 words; own is 36 for one and 77 for the other."""
    words = ("score", *hotel_files, turns, "--budget", "10%,own")
    rows = printed_json(*words)["scores"]
    assert [(row["store"], row["asked"], row["budget"], row["kept_by"]) for row in rows] == [
        ("export", "10%", 22, "recency"),
        ("turns", "10%", 22, "recency"),
        ("export", "own", 36, "everything fits"),
        ("turns", "own", 77, "everything fits"),
    ]
    assert all(row["kept"]["cost"] <= row["budget"] for row in rows)
    assert [row["written"]["cost"] for row in rows] == [36, 77, 36, 77]
    for row in rows:
        (same,) = [
            other
            for other in printed_json(*words[:-1], row["budget"])["scores"]
            if other["store"] == row["store"]
        ]
        assert same["score"] == row["score"], "a budget means its cost, however it is asked for"
    text = done(*words).stdout
    for cell in ("10% (22)", "own (36)", "own (77)"):
        assert cell in text
    assert "no --budget was given" not in text


def test_usual_budgets(hotel_files: Files) -> None:
    """Without --budget the store as it is comes first; losses are shown at a tenth."""
    rows = printed_json("score", *hotel_files)["scores"]
    assert [row["asked"] for row in rows] == ["10%"]
    text = " ".join(done("score", *hotel_files).stdout.split())
    assert "cut to 10% of the conversation, as no --budget is given:" in text
    assert text.index("complete: what the whole store") < text.index("cut to 10%")


def test_nothing_above_1_is_shown_of_a_store_over_budget(hotel_files: Files) -> None:
    """Everything that was said and every fact are worth more than OPT at 5% of the conversation,
    which they cost far more than: no ratio of the whole store is printed or written."""
    stores = []
    for name, kinds in (("facts", ("fact", "rule", "event")), ("turns", ("raw",))):
        texts = [one.text for one in short_set()[0].candidates if one.kind in kinds]
        stores.append(import_texts(hotel_files[0].with_name(f"{name}.json"), texts))
    words = ("score", hotel_files[0], *stores, "--budget", "5%")
    for row in printed_json(*words)["scores"]:
        assert row["written"]["value"] > row["optimum"]["value"] > 0
        assert row["written"]["cost"] > row["budget"]
        ratios = (row["package_ratio"]["value"], row["union_ratio"]["value"], row["score"])
        assert 0 <= min(ratios) <= max(ratios) <= 1
    for text in (done(*words).stdout, done(*words, "--all").stdout):
        assert all(float(number) <= 1 for number in re.findall(r"\d+\.\d{3}", text))


def test_gate(hotel_files: Files) -> None:
    """An estimate decides where the error of its judge is known and leaves no doubt, or where
    estimates are allowed."""
    (row,) = printed_json("score", *hotel_files, "--budget", "40")["scores"]
    low, high = row["interval"]
    assert 0 < low < row["score"] < high < 1
    gate = ("gate", *hotel_files, "--budget", "40", "--min-score")
    error = f"scores {row['score']:.4f} ({low:.4f} to {high:.4f} by the judge's error), minimum "
    assert f"pass: export at 40 {error}" in done(*gate, low - 0.01).stdout
    below = run(*gate, high + 0.01)
    assert below.exit_code == 1
    assert below.stdout.startswith(f"FAIL: export at 40 {error}")
    assert "an ESTIMATE: " in below.stdout
    for minimum in (low + 0.01, high - 0.01):
        assert f"and its error leaves {minimum:g} open; " in failure(*gate, minimum)
    done(*gate, low + 0.01, "--allow-estimates")
    assert run(*gate, high - 0.01, "--allow-estimates").stdout.startswith("FAIL")
    for unknown_error in (("--judge", "lexical"), ("--set", "score.draws=0")):
        assert "is an estimate, " in failure(*gate, "0", *unknown_error)
        done(*gate, "0", *unknown_error, "--allow-estimates")


def test_wrong_input(hotel_files: Files) -> None:
    package, store = hotel_files
    gate = ("gate", package, store, "--min-score")
    for words, message in {
        ("score", package, store, "--budget", "9", "--judge", "me"): "unknown judge",
        ("score", package, store, store, "--budget", "9"): "same name",
        ("score", package, package, "--budget", "9"): "p.json: is a memaudit-package, not a store",
        ("score", package, store, "--budget", "10,20,10.0"): "budget 10 is given twice",
        (
            "score",
            package,
            store,
            "--budget 9 --set score.group_cap=0",
        ): "score.group_cap must be at least 1",
        (*gate, "50", "--budget", "1"): "must be between 0 and 1",
        (*gate, "0", "--budget", "1,2"): "budget '1,2': ",
        (*gate, "0", "--budget", "1", "--policy", "salience"): "has no salience",
    }.items():
        assert message in failure(*words)


def test_exports_need_no_import(hotel_files: Files, tmp_path: Path) -> None:
    """An export scores as its store does; NAME=, + and @VIEW say how it is read.

    Kit's blocks have 3 entries, of which 2 are in one block, and the archive 1 active passage.
    """
    package, store = hotel_files
    words = ("--budget", "10,40")
    imported = printed_json("score", package, store, *words)
    assert printed_json("score", package, store.with_suffix(".jsonl"), *words) == imported
    kit = EXPORTS["letta agent file"].write(tmp_path, "kit")
    archive = EXPORTS["letta passages"].write(tmp_path, "archive")
    views = (kit, f"all={kit}+{archive}", f"blocks={kit}@full")
    rows = printed_json("score", package, *views, "--budget", "9")["scores"]
    assert [(row["store"], row["written"]["memories"]) for row in rows] == [
        ("kit", 3),
        ("all", 4),
        ("blocks", 2),
    ]
    assert [set(row["policies"]) for row in rows] == [{"top"}, {"top"}, {"recency"}]
    assert "is a store, imported with its view" in failure(
        "score", package, f"{store}@text", *words
    )
    gate = ("gate", package, f"{kit}@lines", "--budget", "6", "--min-score", "0")
    assert "cut by top" in done(*gate, "--allow-estimates").stdout
    assert "so recency is not defined; use top" in run(*gate, "--policy", "recency").stderr


def test_stores_only(hotel_files: Files) -> None:
    """Without the package's candidates the best that fits is the store's own."""
    (row,) = printed_json("score", *hotel_files, "--budget", "10", "--stores-only")["scores"]
    assert row["package_ratio"]["undefined"] == "optimum is 0"
    assert row["optimum"]["value"] == row["best_subset"]["value"] > 0


def test_one_of_several_conversations(hotel_files: Files, tmp_path: Path) -> None:
    """A file of results by number: mapped when it is scored, or chosen and mapped on import."""
    package, store = hotel_files
    texts = [memory["text"] for memory in json.loads(store.read_text())["memories"]]
    found = [{"memory": text, "timestamp": None} for text in texts]
    other = [{"memory": "Bo likes tea.", "timestamp": None}]
    results = tmp_path / "results.json"
    results.write_text(
        json.dumps(
            {
                name: [{"question": "?", "speaker_1_memories": rows, "speaker_2_memories": []}]
                for name, rows in {"0": other, "1": found}.items()
            }
        )
    )
    score = ("score", package, results, "--budget", "40")
    assert (
        "but for '0', '1'; if that is the same conversation, say so with --map OLD=NEW, such "
        "as --map 0=hotel-rooms\n" in run(*score).stderr
    )
    (own,) = printed_json("score", *hotel_files, "--budget", "40")["scores"]
    (mapped,) = printed_json(*score, "--map", "1=hotel-rooms")["scores"]
    out = tmp_path / "one.json"
    chosen = ("import", results, "--out", out, "--conversation", "1", "--map")
    assert failure(*chosen, "2=hotel-rooms") == (
        "error: --map 2=hotel-rooms: no store has a conversation '2'; the conversations are '1'"
    )
    done(*chosen, "1=hotel-rooms")
    said = done("import", results, "--out", tmp_path / "all.json").stdout
    assert "conversations: 1 4, 0 1 (--conversation NAME reads only one of them)" in said
    (imported,) = printed_json("score", package, out, "--budget", "40")["scores"]
    assert imported["score"] == mapped["score"] == own["score"] > 0
    unneeded = failure("score", *hotel_files, "--budget", "40", "--map", "1=hotel-rooms")
    assert unneeded.endswith("has a conversation '1'; every package fits without --map")


def test_what_was_left_out_on_purpose_is_no_warning(hotel_files: Files, tmp_path: Path) -> None:
    """Rows of other users are counted. Neither they nor anything odd in them is warned about; a
    row that was lost is."""
    text = "Ingrid wants hotel rooms away from the lift."
    rows = [{"text": text, "user_id": "ann"}, {"text": "Bo swims.", "user_id": "bo", "time": "x"}]
    path, out = write_rows(tmp_path / "all.jsonl", *rows), tmp_path / "ann.json"
    words = ("import", path, "--out", out, "--namespace", "ann")
    mixed = "all: holds memories of 2 users (ann, bo): recency mixes them; import one with"
    assert mixed in " ".join(done("score", hotel_files[0], path, "--budget", "40").stdout.split())
    data = printed_json("score", hotel_files[0], path, "--budget", "40")
    assert data["stores"][0]["mixed_users"] == ["ann", "bo"]
    printed = done(*words)
    assert "        1  skipped: other namespace" in printed.stdout
    assert "warning" not in printed.output
    score = done("score", hotel_files[0], out, "--budget", "40")
    assert score.stderr == ""
    assert "PARTLY READ" not in score.stdout
    assert "mixes" not in score.stdout
    write_rows(path, *rows, {"text": 7})
    assert "warning: partly read: 1 of 3 rows were skipped" in done(*words).stdout


def test_times_are_the_same_for_all_stores(hotel_files: Files, tmp_path: Path) -> None:
    """A-Mem's reader is shown when a note was made, but not if the conversation has no such day."""
    notes = EXPORTS["amem notes"].write(tmp_path, "notes")
    done("import", notes, "--times", "none", "--out", tmp_path / "bare.json")
    words = ("score", *hotel_files, tmp_path / "bare.json", "--budget", "40")
    assert "'notes' with --times none; set score.times" in failure(*words)
    left_out = [
        row["left_out"] for row in printed_json(*words, "--set=score.times=shown")["stores"]
    ]
    assert left_out == [{}, {"times that are not the conversation's": 2}]
    assert "must be one of shown, none, all" in failure(*words, "--set=score.times=some")
    again = ("import", notes.parent / "notes", "--out", tmp_path / "x.json")
    assert "--times 'some' is not known" in failure(*again, "--times", "some")


def salience(store: Path, example: str = "hotel-rooms", most: int = 9) -> Path:
    """Calls that score the memories of a store by their place, the first the highest."""
    ids = [memory["id"] for memory in json.loads(store.read_text())["memories"]]
    scores = {id: {"salience": len(ids) - place} for place, id in enumerate(ids[:most])}
    row = {"instance_id": example, "scores": scores}
    return write_rows(store.with_name("salience.jsonl"), row)


def test_salience(hotel_files: Files) -> None:
    """Write-time and query-aware salience are two rows, never one. The gate cuts by the policy it
    is given, and so does `memaudit score`: both have the same score."""
    calls = salience(hotel_files[1])
    words = (*hotel_files, "--budget", "20", "--judge", "lexical")
    for given, rows in (
        (("--salience", f"query:{calls}"), {"recency", "query_salience"}),
        (
            ("--salience", calls, "--salience", f"query:{calls}"),
            {"recency", "salience", "query_salience"},
        ),
        (("--salience", calls), {"recency", "salience"}),
    ):
        (row,) = printed_json("score", *words, *given)["scores"]
        assert set(row["policies"]) == rows
        assert row["kept_by"] == "recency"
    by_salience = (*words, "--policy", "salience", "--salience", calls)
    (cut,) = printed_json("score", *by_salience)["scores"]
    assert (cut["kept_by"], cut["kept"]) == ("salience", row["policies"]["salience"])
    assert cut["score"] == cut["kept"]["ratio"] > row["score"]
    gated = done("gate", *by_salience, "--min-score", "0", "--allow-estimates").stdout
    assert f"at 20 scores {cut['score']:.4f}, minimum 0, cut by salience; " in gated


def test_a_partly_read_store_says_so(hotel_files: Files, tmp_path: Path) -> None:
    """In the table, in JSON, at the gate."""
    texts = ("Ingrid never wants breakfast booked.", 5, None)
    write_rows(tmp_path / "torn.jsonl", *({"text": text} for text in texts))
    done("import", "plain", tmp_path / "torn.jsonl", "--out", tmp_path / "torn.json")
    words = (hotel_files[0], tmp_path / "torn.json", "--budget", "10")
    line = "PARTLY READ: 2 rows of the export are not in the store"
    assert f"torn: {line}" in done("score", *words).stdout
    (row,) = printed_json("score", *words)["stores"]
    assert (row["name"], row["unread_rows"], row["undecided_cells"]) == ("torn", 2, 0)
    assert sum(row["count"]["skipped"].values()) == 2
    assert row["warnings"]
    assert line in done("gate", *words, "--min-score", "0", "--allow-estimates").stdout


def test_picture(hotel_files: Files, turns: Path, tmp_path: Path) -> None:
    """Beside the scores, which are the same; another format is refused, and nothing is written."""
    words = ("score", *hotel_files, turns, "--budget", "40")
    picture = tmp_path / "scores.svg"
    assert done(*words, "--out", picture).stdout == done(*words).stdout
    drawn = picture.read_text()
    for part in ("score/export", "score/turns", "own/turns"):
        assert part in drawn
    assert "scores.gif" in failure(*words, "--out", tmp_path / "scores.gif")
    write_artifact(short_set()[:2], tmp_path / "many")
    assert "--out needs a single package" in failure(
        "score", tmp_path / "many", *words[2:], "--out", tmp_path / "many.svg"
    )
    assert sorted(one.name for one in tmp_path.glob("*.[sg][vi][gf]")) == ["scores.svg"]


def test_explain(hotel_files: Files) -> None:
    """All about a unit and a memory; what is called neither is an error. Who disputes a score needs
    the lost units with their words, step and queries, and the cells."""
    words = ("score", *hotel_files, "--budget", "10,40", "--explain")
    unit, memory = printed_json(*words, "u1", "--explain", "line-1")["explained"]
    assert unit["unit"]["queries"]
    assert [row["budget"] for row in unit["unit"]["scores"]] == [10, 40]
    assert memory["memories"][0]["memory"] == "line-1"
    text = done(*words, "u1").stdout
    for part in ("unit u1 (preference, weight 1)", "asked for by", "in candidate"):
        assert part in text
    assert "nothing is called 'u99'" in failure(*words, "u99")
    listed = ("score", *hotel_files, "--budget 10 --explain cells")
    data = printed_json(*listed)
    (row,) = data["scores"]
    assert all(unit["text"] and unit["asked_by"] and unit["step"] for unit in row["lost_units"])
    (cells,) = data["cells"].values()
    assert all(cell["value"] > 0 and cell["rationale"] for cell in cells)
    text = done(*listed).stdout
    losses = sum(unit["lost"] > 0 for unit in row["lost_units"])
    assert f"lost by export at 10: {losses} losses and " in text
    assert f"{len(cells)} cells above 0" in text


def test_one_file_of_labels_for_each_store(hotel_files: Files, tmp_path: Path) -> None:
    """Stores that share ids need files of their own, which go to them in their order."""
    texts = [memory["text"] for memory in json.loads(hotel_files[1].read_text())["memories"]]
    again = import_texts(tmp_path / "again.json", texts)
    words = ("score", *hotel_files, again, "--budget", "40")
    judges = []
    for name, value in (("full", 1), ("half", 0.5)):
        row = {"memory_id": "line-1", "unit_id": "u1", "coverage": value}
        judges += ["--judge", f"labels:{write_rows(tmp_path / f'{name}.jsonl', row)}"]
    assert "two stores have a memory 'line-1'" in failure(*words, *judges[:2])
    data = printed_json(*words, *judges)
    assert [row["written"]["value"] for row in data["scores"]] == [1, 0.5]
    assert data["judge"] == "labels full, labels half"
    mixed = ("--judge", "lexical", "--judge", "pointer")
    assert "one judge for all stores" in failure(*words, *mixed)
