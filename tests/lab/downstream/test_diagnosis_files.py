"""Summaries and rows of another form are one line, not a page or a traceback."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from memaudit.kernel.errors import MemAuditError
from memaudit.lab.downstream.diagnosis_files import UnitFate, statement_fates
from memaudit.lab.downstream.downstream_page import open_folder
from memaudit.workspace.journal import read_journal, to_line
from tests.lab.downstream.conftest import changed


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (
            lambda one: one["summaries"][0]["losses"].update(uncertain={"a": 1}),
            r"summaries\.0\.losses\.uncertain: input should be a valid string",
        ),
        (
            lambda one: one["summaries"][0]["losses"].update(reader="1e999999999"),
            r"summaries\.0\.losses\.reader: 1e999999999 is out of range",
        ),
        (
            lambda one: [
                kind["losses"].update(reader="x") for kind in one["summaries"][1]["kinds"].values()
            ],
            r"losses\.reader: 'x' is not a number",
        ),
        (lambda one: one["summaries"][0]["outcomes"].pop("uncertain"), "outcomes lack 'uncertain'"),
        (lambda one: one["summaries"][0].update(questions=0), "greater than or equal to 1"),
        (lambda one: one["summaries"][1].update(store="some"), "stores have the same name"),
        (lambda one: one["summaries"][1].update(kinds={}), "'dog' has other kinds of questions"),
        (lambda one: one["differences"][0].update(first="x"), "a store that it does not have"),
        (lambda one: one["spec"].pop("packages"), "names neither packages nor a source"),
        (lambda one: one["spec"].update(rules=None), r"spec\.rules: input should be a valid dict"),
        (lambda one: one.update(summaries=[]), "summaries: list should have at least 1 item"),
        (lambda one: one.update(questions=10**30), "questions: input should be less than"),
    ],
)
def test_summaries(
    diagnosis: Path, tmp_path: Path, change: Callable[[dict[str, Any]], object], said: str
) -> None:
    with pytest.raises(MemAuditError, match=said):
        open_folder(changed(diagnosis, tmp_path / "d", change))


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"outcome": "odd"}, "line 1: outcome: input should be"),
        (
            {"grades": {"words": "sure", "model": None, "reason": ""}},
            r"grades\.words: input should",
        ),
        (
            {"outcome": "uncertain", "layer": "answered"},
            "line 1: its outcome and its layer do not fit",
        ),
        ({"why": ["odd"]}, "line 1: why: 'odd' is not a remark that this version knows"),
        ({"retrieved": ["gone"]}, "line 1: the text of memory 'gone' is missing"),
        ({"texts": None}, "line 1: texts: input should be a valid dictionary"),
    ],
)
def test_rows(diagnosis: Path, tmp_path: Path, change: dict[str, Any], said: str) -> None:
    copy = changed(diagnosis, tmp_path / "d", lambda _: None)
    first, *others = read_journal(copy / "rows.jsonl")
    (copy / "rows.jsonl").write_text("".join(map(to_line, [{**first, **change}, *others])))
    with pytest.raises(MemAuditError, match=said):
        open_folder(copy)


def test_parts_of_a_statement_are_shown_together() -> None:
    """Of three parts two were retrieved. Every memory stands once, with the parts it covers."""
    first, second = (
        {"id": id, "covers": 1, "kept": True, "rank": rank}
        for id, rank in (("m1", 1), ("m2", None))
    )
    memories = {"what": [first, second], "who": [first], "when": [second]}
    evidence = [
        UnitFate.model_validate(
            {
                "unit": f"u7#{name}",
                "says": f"Ana moved ({name}: x)",
                "supports": True,
                "stage": "retrieved" if first in own else "not_retrieved",
                "needs": 1,
                "written": len(own),
                "kept": len(own),
                "retrieved": int(first in own),
                "memories": own,
            }
        )
        for name, own in memories.items()
    ]
    plain = evidence[0].model_copy(update={"unit": "u8", "says": "Bo sings"})
    statement, other = statement_fates([*evidence, plain])
    assert (statement.id, statement.says) == ("u7", "Ana moved")
    assert statement.stages == (("retrieved", "what, who"), ("not_retrieved", "when"))
    assert statement.amounts == (3, 3, 3, 2)
    assert [(memory.id, names) for memory, names in statement.memories] == [
        ("m1", "what, who"),
        ("m2", "what, when"),
    ]
    assert (other.id, other.says, other.stages) == ("u8", "Bo sings", (("retrieved", ""),))
    assert other.amounts == (1, 2, 2, 1)
    assert [names for _, names in other.memories] == ["", ""]
