"""docs/explanation/offline-judge.md publishes the error that the shipped file holds."""

from pathlib import Path

from memaudit.judges.offline_judge import named_offline_judge

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "offline-judge.md"


def test_the_page_shows_the_error_of_the_file() -> None:
    error = named_offline_judge("offline").file.error
    rows = [f"Of {error.pairs:,} pairs:"]
    for name, full in (("any coverage", False), ("full coverage", True)):
        precision, recall = error.rates(full)
        rows.append(f"| {name} | {precision:.3f} | {recall:.3f} |")
    for kind in sorted({row.kind for row in error.rows}):
        cells = {row.judged: row for row in error.rows if row.kind == kind}
        shown = (
            f"{cells[said].none:,} / {cells[said].partial} / {cells[said].full}"
            for said in ("none", "partial", "full")
        )
        rows.append(f"| {kind} | {' | '.join(shown)} |")
    page = PAGE.read_text()
    assert [row for row in rows if row not in page] == []
