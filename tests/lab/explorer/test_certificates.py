"""The command on pages of certificates works as it is printed, in the folder it names."""

import shlex
import shutil
import subprocess
import sys
import threading
from html import unescape
from pathlib import Path

import pytest

from memaudit.kernel.checker import Verdict, verify
from memaudit.kernel.io.certificates import write_certificates
from memaudit.kernel.io.packages import read_package
from memaudit.kernel.package.optimum import Certificate
from memaudit.kernel.package.package import Package
from memaudit.kernel.solvers.solve import solve
from memaudit.lab.explorer.library.library import Library
from memaudit.lab.explorer.pages import certificates
from memaudit.lab.explorer.site import Site
from memaudit.lab.explorer.views.store_table import shown_budgets
from tests.cli.running import run
from tests.lab.explorer.site_pages import page, slug_of
from tests.show.html_tree import Tree

ODD = "two words & 'more' $HOME"


def command(tree: Tree) -> list[str]:
    """The words of the command as a shell splits them."""
    (text,) = [one.all_text for one in tree.named("code") if "memaudit verify" in one.all_text]
    told = subprocess.run(
        ["sh", "-c", f"set -- {unescape(text)}; for one; do printf '%s\\0' \"$one\"; done"],
        capture_output=True,
        text=True,
        check=True,
    )
    words = told.stdout.split("\0")[:-1]
    assert words == shlex.split(text)
    assert words[:2] == ["memaudit", "verify"]
    return words[1:]


def valid(folder: Path, words: list[str], monkeypatch: pytest.MonkeyPatch) -> int:
    """How many certificates hold if the command is run there."""
    monkeypatch.chdir(folder)
    result = run(*words)
    assert result.exit_code == 0, result.output
    return result.stdout.count("VALID  ")


@pytest.fixture
def folder(plain: Path, tmp_path: Path) -> Path:
    """A package and its certificates in folders with names that a shell would take apart."""
    here = tmp_path / "in" / ODD
    here.mkdir(parents=True)
    shutil.copy(plain / "natural" / "hotel-rooms.json", here / "-package.json")
    shutil.copy(plain / "proofs.json", tmp_path / "in" / "proofs.json")
    return tmp_path / "in"


@pytest.mark.skipif(sys.platform == "win32", reason="a POSIX shell")
def test_of_a_file(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    site = Site(Library([folder]))
    tree = page(site, f"certificate/{slug_of(site, 'certificate', 'proofs')}.html")
    assert command(tree) == ["verify", f"in/{ODD}/-package.json", "in/proofs.json"]
    assert valid(folder.parent, command(tree), monkeypatch) == 2
    assert sum("holds" in one.text for one in tree.named("span")) == 2


def test_of_packages_in_one_build(plain: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Certificates of two packages: the folder of the build has both."""
    build = plain / "natural"
    files = [build / "hotel-rooms.json", build / "new-knee.json"]
    proofs = [solve(read_package(file), 12).certificate for file in files]
    several = plain / "several.json"
    write_certificates([proof for proof in proofs if proof], several)
    try:
        site = Site(Library([plain]))
        tree = page(site, f"certificate/{slug_of(site, 'certificate', 'several')}.html")
        assert command(tree) == ["verify", "library/natural", "library/several.json"]
        assert valid(plain.parent, command(tree), monkeypatch) == 2
    finally:
        several.unlink()


def test_of_two_folders(folder: Path, tmp_path: Path) -> None:
    """Nothing is said of where the folders are."""
    (folder / "proofs.json").rename(tmp_path / "proofs.json")
    site = Site(Library([folder, tmp_path / "proofs.json"]))
    tree = page(site, f"certificate/{slug_of(site, 'certificate', 'proofs')}.html")
    assert command(tree)[1:] == [f"in/{ODD}/-package.json", "proofs.json"]
    assert str(tmp_path) not in tree.text


def test_without_the_package(folder: Path) -> None:
    shutil.rmtree(folder / ODD)
    site = Site(Library([folder]))
    tree = page(site, f"certificate/{slug_of(site, 'certificate', 'proofs')}.html")
    assert "packages of these certificates, which are not here" in " ".join(tree.text.split())


def test_of_a_package(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Both are saved under the names the page gives them."""
    site = Site(Library([folder]))
    slug = slug_of(site, "package", "hotel-rooms")
    tree = page(site, f"package/{slug}/proofs.html")
    verify, package, certificate = command(tree)
    (saved,) = [one for one in tree.named("a") if one.attributes.get("download") == certificate]
    address = (saved.attributes["href"] or "").removeprefix("../../")
    assert package == "package.json"
    indexed = site.package(slug)
    best = site.optima(indexed).optimum(shown_budgets(site.frontier(indexed))[0])
    assert address == f"package/{slug}/certificate/{best.budget}.json"
    assert best.certificate is not None
    write_certificates([best.certificate], folder / certificate)
    shutil.copy(indexed.entry.path, folder / package)
    assert valid(folder, [verify, package, certificate], monkeypatch) == 1


def test_a_check_that_takes_long_goes_on(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is not waited for and not started again; a later visit has its verdict."""
    released, calls = threading.Event(), []

    def slow(package: Package, certificate: Certificate) -> Verdict:
        calls.append(certificate)
        released.wait(60)
        return verify(package, certificate)

    monkeypatch.setattr(certificates, "verify", slow)
    site = Site(Library([folder]), seconds=0.05)
    address = f"certificate/{slug_of(site, 'certificate', 'proofs')}.html"
    for _ in range(2):
        assert "not checked yet" in page(site, address).text
    released.set()
    site.seconds = 20.0
    assert "not checked yet" not in page(site, address).text
    assert len(calls) == 2
