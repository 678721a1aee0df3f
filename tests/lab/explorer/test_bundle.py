"""A bundle is written whole or not at all, over nothing that is not its own."""

import json
import math
import time
from pathlib import Path
from typing import Any

import pytest

from memaudit.building.named_packages import short_set
from memaudit.kernel.checker import verify
from memaudit.kernel.errors import MemAuditError
from memaudit.kernel.io.certificates import read_certificates
from memaudit.kernel.io.packages import read_package, write_package
from memaudit.kernel.solvers.solve import PackageSolver
from memaudit.lab.explorer import bundle as bundling
from memaudit.lab.explorer.bundle import write_bundle
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.site import META
from memaudit.lab.sweeps.runs.spec import RunSpec
from memaudit.lab.sweeps.runs.sweep import run
from memaudit.workspace.engines import Serial
from memaudit.workspace.run_folder import ROWS
from tests.lab.explorer.libraries import hostile_package


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "in").mkdir()
    write_package(hostile_package("a", 1), tmp_path / "in" / "one.json")
    return tmp_path / "in"


def files(folder: Path) -> dict[str, bytes]:
    return {str(p.relative_to(folder)): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


def test_every_page_has_the_policy_before_anything_else(bundle: Path) -> None:
    for path in bundle.rglob("*.html"):
        head = path.read_text()[:700]
        policy = f'<meta http-equiv="Content-Security-Policy" content="{META}">'.replace(
            "'", "&#39;"
        )
        assert policy in head
        assert head.index(policy) < head.index("<link")
    assert "script-src 'self'" in META
    assert "connect-src 'none'" in META
    assert "unsafe" not in META


def test_certificates_in_a_bundle_hold(bundle: Path) -> None:
    seen = 0
    for path in sorted(bundle.glob("package/hotel-rooms-*/certificate/*.json")):
        (certificate,) = read_certificates(path)
        assert verify(read_package(path.parent.parent / "package.json"), certificate).valid
        seen += 1
    assert seen >= 4
    proofs = next(bundle.glob("package/hotel-rooms-*/proofs.html")).read_text()
    assert proofs.count(">holds<") >= 4
    (page,) = bundle.glob("certificate/proofs-*.html")
    assert page.read_text().count(">holds<") == 2


def test_it_does_not_say_where_it_was_made(bundle: Path, plain: Path) -> None:
    for name, data in files(bundle).items():
        assert str(plain.parent).encode() not in data, name


def test_again_into_the_same_folder(folder: Path, tmp_path: Path) -> None:
    """The same pages, nothing left over, and pages of what is gone are gone."""
    out = tmp_path / "site"
    write_bundle(Library([folder]), out, 20.0)
    first = files(out)
    write_bundle(Library([folder]), out, 20.0)
    assert files(out) == first
    (folder / "one.json").unlink()
    write_bundle(Library([folder]), out, 20.0)
    assert not (out / "package").exists()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "site"]


def test_a_foreign_folder_is_left_alone(folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "site"
    write_bundle(Library([folder]), out, 20.0)
    (out / "CNAME").write_text("example.org")
    with pytest.raises(MemAuditError, match="contains 'CNAME', which is not part of a bundle"):
        write_bundle(Library([folder]), out, 20.0)
    assert (out / "CNAME").exists()
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "x").write_text("")
    with pytest.raises(MemAuditError, match="not part of a bundle"):
        write_bundle(Library([folder]), tmp_path / "other", 20.0)
    with pytest.raises(MemAuditError, match="it is a file"):
        write_bundle(Library([folder]), folder / "one.json", 20.0)


def test_an_interruption_leaves_the_old_site(
    folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out = tmp_path / "site"
    write_bundle(Library([folder]), out, 20.0)
    before = files(out)
    put = bundling._put

    def cut(folder: Path, address: str, data: bytes, hashes: dict[str, str]) -> None:
        if address == "index.html":
            raise KeyboardInterrupt
        put(folder, address, data, hashes)

    monkeypatch.setattr(bundling, "_put", cut)
    with pytest.raises(KeyboardInterrupt):
        write_bundle(Library([folder]), out, 20.0)
    assert files(out) == before
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "site"]


def test_what_a_killed_process_left_is_cleared(folder: Path, tmp_path: Path) -> None:
    """An old site that was moved aside where no single step exists."""
    out = tmp_path / "site"
    write_bundle(Library([folder]), out, 20.0)
    out.rename(tmp_path / ".site.old-part")
    write_bundle(Library([folder]), out, 20.0)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["in", "site"]


def test_a_run_in_progress_is_bundled_as_such(tmp_path: Path) -> None:
    spec = RunSpec(("base",), (0, 1), ("2",), ("opt", "recency_raw"))
    run(spec, tmp_path / "in" / "run", Serial())
    rows = (tmp_path / "in" / "run" / ROWS).read_bytes().splitlines(keepends=True)
    (tmp_path / "in" / "run" / ROWS).write_bytes(b"".join(rows[:3]))
    library = Library([tmp_path / "in"])
    written = write_bundle(library, tmp_path / "site", 20.0)
    assert written.errors == 0
    assert library.unreadable == ()
    index = (tmp_path / "site" / "index.html").read_text()
    assert "in progress: 3 of 4" in index
    assert ">in/run<" in index
    (page,) = (tmp_path / "site").glob("run/in-run-*/index.html")
    text = page.read_text()
    assert "In progress: 3 of 4 rows." in text
    assert (
        "memaudit run --packages base --seeds 0-1 --budgets 2 --writers opt,recency_raw "
        "--out in/run"
    ) in text


def test_progress_tells_pages_and_stores(folder: Path, tmp_path: Path) -> None:
    seen: list[tuple[int, int, str]] = []
    write_bundle(Library([folder]), tmp_path / "site", 20.0, lambda *step: seen.append(step))
    assert {(done, entries) for done, entries, _ in seen} == {(1, 1)}
    texts = [text for _, _, text in seen]
    pages = [text for text in texts if text.endswith((".html", ".json"))]
    assert len(pages) == len(set(pages)) > 10
    assert any("GVT, geometric grid at" in text for text in texts)


def test_no_package_takes_longer_than_it_may(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing is solved for longer than what is left of the package's seconds, on any page."""
    package = short_set()[0]
    (tmp_path / "in").mkdir()
    write_package(package, tmp_path / "in" / "one.json")
    allowed: list[float] = []
    solve = PackageSolver.solve

    def slow(self: PackageSolver, budget: Any, seconds: float | None = None, **more: Any) -> Any:
        allowed.append(math.inf if seconds is None else seconds)
        time.sleep(0.1)
        return solve(self, budget, seconds=seconds, **more)

    monkeypatch.setattr(PackageSolver, "solve", slow)
    write_bundle(Library([tmp_path / "in"]), tmp_path / "site", 1.0)
    assert max(allowed) <= 1.0
    assert len(allowed) < 30  # a tenth of a second each


def test_a_site_is_no_library(folder: Path) -> None:
    """Bundled into the folder it shows, it does not show itself the next time."""
    write_bundle(Library([folder]), folder / "site", 20.0)
    assert [one.name for one in Library([folder]).items] == ["1 a"]
    manifest = json.loads((folder / "site" / "site.json").read_text())
    assert manifest["format"] == "memaudit-site"
