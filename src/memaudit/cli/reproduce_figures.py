"""The figures of a reproduction: of the controlled runs, and beside the paper's on the own set."""

from pathlib import Path


def draw_figures(folder: Path, out: Path) -> None:
    """Draw them all from the parts' files, into a folder of their own."""
    from memaudit.io.strict_json import read_object
    from memaudit.report.downstream_page import draw_downstream
    from memaudit.report.figures.budget_sweep import budget_sweep
    from memaudit.report.figures.registry import draw_all
    from memaudit.report.figures.save import write_figure
    from memaudit.reproduce.folder import DOWNSTREAM, NATURAL, STRESS, SUMMARY, SWEEP
    from memaudit.reproduce.tables import WRITERS

    draw_all([folder / SWEEP, folder / STRESS], out)
    draw_downstream(folder / DOWNSTREAM, out)
    summary = read_object(folder / NATURAL / SUMMARY, "make it again")
    rows = [row for row in summary["rows"] if row["writer"] in WRITERS]
    write_figure(budget_sweep({**summary, "rows": rows}), out / f"{NATURAL}-budget_sweep")
