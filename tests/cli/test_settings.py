"""Settings: which place wins, what is refused, and what the page says about them."""

import json
from dataclasses import fields
from fractions import Fraction
from pathlib import Path

import pytest

from memaudit.cli.settings import (
    SECTIONS,
    EngineKeys,
    JudgeKeys,
    ModelKeys,
    Settings,
    keys,
    read_settings,
)
from memaudit.kernel.errors import MemAuditError
from memaudit.workspace.engines import ENGINES
from tests.cli.running import done, failure, printed_json

ROOT = Path(__file__).parents[2]


def write(folder: Path, text: str) -> Path:
    path = folder / "memaudit.toml"
    path.write_text(text)
    return path


def test_nothing_given_is_the_defaults(tmp_path: Path) -> None:
    assert read_settings(tmp_path, {}, ()) == Settings()


def test_a_later_place_wins(tmp_path: Path) -> None:
    """File, environment, --set; each value remembers where it came from."""
    file = write(tmp_path, "[model]\nretries = 1\nconcurrency = 2\nmax_tokens = 3\n")
    environment = {"MEMAUDIT_MODEL_CONCURRENCY": "20", "MEMAUDIT_MODEL_MAX_TOKENS": "30"}
    settings = read_settings(tmp_path, environment, ("model.max_tokens=300",))
    assert settings.model == ModelKeys(retries=1, concurrency=20, max_tokens=300)
    assert settings.origins == {
        "model.retries": str(file),
        "model.concurrency": "MEMAUDIT_MODEL_CONCURRENCY",
        "model.max_tokens": "--set",
    }


def test_the_last_assignment_wins_and_nothing_is_the_default(tmp_path: Path) -> None:
    write(tmp_path, "[engine]\njobs = 4\n")
    assert read_settings(tmp_path, {}, ("engine.jobs=2", "engine.jobs=3")).engine.jobs == 3
    assert read_settings(tmp_path, {}, ("engine.jobs=",)).engine == EngineKeys()


def test_the_nearest_file_and_its_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file of a parent folder is read if there is none here; its paths are relative to it."""
    write(tmp_path, '[model]\ncache = "c.sqlite"\n[judge]\nmemories = "a.jsonl,/b.jsonl"\n')
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    monkeypatch.chdir(inner)
    settings = read_settings(inner, {}, ())
    assert settings.model == ModelKeys(cache=tmp_path / "c.sqlite")
    assert settings.judge == JudgeKeys(memories=Path(f"{tmp_path}/a.jsonl,/b.jsonl"))
    monkeypatch.chdir(tmp_path)
    assert read_settings(tmp_path, {}, ()).model.cache == Path("c.sqlite")
    write(inner, "")
    assert read_settings(inner, {}, ()) == Settings()


def test_prices_are_the_decimals_that_were_written(tmp_path: Path) -> None:
    write(tmp_path, "[model]\nprice_in = 0.1\nprice_out = '0.30'\n")
    model = read_settings(tmp_path, {"MEMAUDIT_MODEL_MAX_COST": "1.5"}, ()).model
    assert (model.price_in, model.price_out) == (Fraction(1, 10), Fraction(3, 10))
    assert model.max_cost == Fraction(3, 2)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[modell]\nx = 1", "unknown section 'modell'; sections are [model], [engine], [solver]"),
        ("model = 1", "unknown section 'model'"),
        ("[model]\nbaseurl = 'x'", "unknown setting model.baseurl; the nearest is model.base_url"),
        ("[engine]\njobs = 0", "engine.jobs must be at least 1, not 0"),
        ("[engine]\njobs = 1.5", "engine.jobs must be a whole number, not 1.5"),
        ("[engine]\njobs = true", "engine.jobs must be a whole number, not true"),
        ("[engine]\nname = 'ray'", "engine.name must be one of processes, serial, dask, not ray"),
        ("[model]\nyes = 'ja'", "model.yes must be true or false, not ja"),
        ("[model]\ntimeout = inf", "model.timeout must be a number"),
        ("[model]\ntimeout = 0", "model.timeout must be above 0, not 0"),
        ("[model]\ncache = 3", "model.cache must be a text, not 3"),
        ("[model]\nbase_url = 'ftp://x'", "model.base_url: the base URL is not an http"),
        ("[model", "not TOML: "),
    ],
)
def test_a_mistake_in_the_file(tmp_path: Path, text: str, words: str) -> None:
    """One line that names the file, the key, and what it must be."""
    path = write(tmp_path, text)
    with pytest.raises(MemAuditError) as error:
        read_settings(tmp_path, {}, ())
    message = str(error.value)
    assert message.startswith(f"{path}: {words}")
    assert "\n" not in message


SECRET = "sk-abcdefghijklmnop"


@pytest.mark.parametrize(
    "text",
    [
        f"[model]\napi_key = '{SECRET}'",
        f"[model]\nbase_url = '{SECRET}'",
        f"[keys]\nopenai = '{SECRET}'",
        f"api_key = '{SECRET}'",
        "[model]\npassword = 'x'",
    ],
)
def test_a_secret_is_refused_unquoted(tmp_path: Path, text: str) -> None:
    """It says where secrets go, and does not repeat this one."""
    path = write(tmp_path, text)
    with pytest.raises(MemAuditError, match="MEMAUDIT_API_KEY") as error:
        read_settings(tmp_path, {}, ())
    assert str(error.value).startswith(f"{path}: ")
    assert SECRET not in str(error.value)


def test_other_variables_are_not_ours_to_read(tmp_path: Path) -> None:
    environment = {"MEMAUDIT_API_KEY": SECRET, "MEMAUDIT_DATA": "x", "MODEL": "y"}
    assert read_settings(tmp_path, environment, ()) == Settings()
    with pytest.raises(MemAuditError, match=r"^MEMAUDIT_ENGINE_JOB: .* is engine.jobs$"):
        read_settings(tmp_path, {"MEMAUDIT_ENGINE_JOB": "1"}, ())


def test_doctor_says_what_is_in_force_and_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "[model]\nprice_in = 0.15\nyes = true\n")
    monkeypatch.setenv("MEMAUDIT_SOLVER_SECONDS", "2.5")
    rows = printed_json("doctor", "--set", "engine.jobs=3")["settings"]
    assert list(rows) == list(keys())
    file = str(tmp_path / "memaudit.toml")
    assert rows["model.price_in"] == {"value": "0.15", "origin": file}
    assert rows["model.yes"] == {"value": True, "origin": file}
    assert rows["solver.seconds"] == {"value": 2.5, "origin": "MEMAUDIT_SOLVER_SECONDS"}
    assert rows["engine.jobs"] == {"value": 3, "origin": "--set"}
    assert rows["engine.name"] == {"value": None, "origin": "default"}
    lines = [line.split() for line in done("doctor").stdout.splitlines()]
    assert ["setting", "solver.seconds", "2.5", "MEMAUDIT_SOLVER_SECONDS"] in lines
    assert ["setting", "model.timeout", "120", "default"] in lines
    assert ["setting", "engine.jobs", "not", "set", "default"] in lines


def test_set_may_stand_anywhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before the command, behind it, as one word; a run does not inherit those of the last one."""
    monkeypatch.chdir(tmp_path)
    for words in (
        ("--set", "engine.jobs=7", "doctor", "--json"),
        ("doctor", "--set", "engine.jobs=7", "--json"),
        ("doctor", "--json", "--set=engine.jobs=7"),
    ):
        assert json.loads(done(*words).stdout)["settings"]["engine.jobs"]["value"] == 7
    assert printed_json("doctor")["settings"]["engine.jobs"]["value"] is None


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (("writers", "--set"), "error: Option '--set' requires an argument; see memaudit --help"),
        (("writers", "--set", "x"), "error: --set x: write --set section.key=value"),
        (
            ("writers", "--set", "modle.base_url=x"),
            "error: --set: unknown setting modle.base_url; the nearest is model.base_url",
        ),
        (("audit", "solvers", "--set", "x.y=1"), "error: --set: unknown setting x.y; the nearest"),
    ],
)
def test_a_mistake_in_set(words: tuple[str, ...], line: str) -> None:
    """It is refused by every command, before it starts."""
    assert failure(*words).startswith(line)


def test_the_page_has_every_setting() -> None:
    """docs/settings.md shows the table, in its order and words."""
    page = (ROOT / "docs" / "settings.md").read_text()
    shown = [line for line in page.splitlines() if line.startswith("| `")]
    expected = []
    for name, key in keys().items():
        default = str(key.default).lower() if isinstance(key.default, bool) else key.default
        default = f"{default:g}" if isinstance(default, float) else default
        cell = "" if default is None else f"`{default}`"
        expected.append(f"| `{name}` | {cell} | {key.rule.meaning} |")
    assert shown == expected


def test_choices_are_those_of_the_library() -> None:
    assert keys()["engine.name"].rule.choices == ENGINES


def test_every_group_has_its_section() -> None:
    groups = [entry.name for entry in fields(Settings) if entry.name != "origins"]
    assert groups == list(SECTIONS)
