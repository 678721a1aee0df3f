"""The guideline: complete, and harmless whoever wrote it."""

from pathlib import Path

from memaudit.web.annotate.app import guideline


def test_the_shipped_one(tmp_path: Path) -> None:
    """Every label, and every known borderline case with an example."""
    page = guideline(tmp_path)
    for label in ("Full", "Partial", "None", "Cannot tell"):
        assert f"<li><strong>{label}</strong>: " in page
    cases = page.split("<h2>Borderline cases</h2>")[1].split("<h3>")[1:]
    assert [case.split("</h3>")[0] for case in cases] == [
        "Broad units", "Summaries that imply", "Coarse graph relations",
        "Validity that depends on order", "Paraphrase",
    ]  # fmt: skip
    for case in cases:
        assert "<p>Unit: <em>" in case
        assert "<strong>Full</strong>" in case
        assert "<strong>None</strong>" in case


def test_a_frames_own_stays_text(tmp_path: Path) -> None:
    """Markup, links and images of a frame's own guideline are shown, not obeyed."""
    (tmp_path / "guideline.md").write_text(
        "# Ours\n\n<script>alert(1)</script> [x](javascript:alert(1)) ![i](http://evil.example/i)"
        "\n\n<https://evil.example> a\u202eb\n\n[r]: http://evil.example\n"
    )
    page = guideline(tmp_path)
    assert page.startswith("<h1>Ours</h1>")
    for tag in ("<script", "<a ", "<img"):
        assert tag not in page
    assert "a\\u202eb" in page
