"""The commands, and what they say when they cannot."""

from pathlib import Path

from tests.cli.running import failure, run


def test_bundle_writes_a_site(plain: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    result = run("serve", plain / "base-1.json", plain / "notes.json", "--out", out)
    assert result.exit_code == 0, result.output
    first, last = result.stdout.splitlines()
    assert first.endswith("MB: 1 package, 1 store")
    assert last == f"open {out / 'index.html'}"
    assert (out / "index.html").is_file()


def test_bundle_counts_the_unreadable(plain: Path, tmp_path: Path) -> None:
    result = run("serve", plain / "broken.json", "--out", tmp_path / "site")
    assert result.exit_code == 0
    assert "1 unreadable, listed on the first page" in result.stdout


def test_an_empty_folder_is_no_bundle(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    said = failure("serve", tmp_path / "in", "--out", tmp_path / "site")
    assert f"{tmp_path / 'in'}: no MemAudit files" in said
    assert [path.name for path in tmp_path.iterdir()] == ["in"]


def test_mistakes_are_one_line(plain: Path, tmp_path: Path) -> None:
    assert "does not exist" in failure("serve", tmp_path / "gone")
    assert "does not exist" in failure("serve", tmp_path / "gone", "--out", tmp_path / "site")
    assert "not part of a bundle" in failure("serve", plain, "--out", plain)
    assert "solver.seconds must be above 0" in failure(
        "serve", plain, "--out", tmp_path / "site", "--set", "solver.seconds=0"
    )
