"""Two embedded conversations, and builds of them."""

import json
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from memaudit.building.build_folder import BuildJob
from memaudit.building.passes.build import build_into_with_model
from memaudit.building.passes.recipe import ModelRecipe
from memaudit.models.batch import import_batch
from memaudit.models.cache import Cache
from memaudit.models.live import RetryPolicy
from memaudit.models.session import ModelSession, ModelSettings, SessionCallbacks, open_session
from tests.building.passes.fake_model import answer, which
from tests.models.server import Served, completion

TWO = ("hotel-rooms", "film-night")
RECIPE = ModelRecipe("one", adjudicator="other")
PLAIN = ModelRecipe("one")


@dataclass(frozen=True)
class BuildRun:
    """A build's manifest and the session it went over."""

    manifest: dict[str, Any]
    session: ModelSession

    @property
    def digests(self) -> dict[str, str]:
        return {one["name"]: one["digest"] for one in self.manifest["packages"]}

    def entry(self, name: str) -> dict[str, Any]:
        packages: list[dict[str, Any]] = self.manifest["packages"]
        (entry,) = [package for package in packages if package["name"] == name]
        return entry


def live(url: str) -> ModelSettings:
    """Asks a test server, and does not wait between tries."""
    return ModelSettings(base_url=url, timeout=20, retry=RetryPolicy(retries=0))


def make(
    folder: Path,
    settings: ModelSettings,
    recipe: ModelRecipe = RECIPE,
    conversations: tuple[str, ...] = TWO,
    out: str = "out",
    cache: str = "cache",
    callbacks: SessionCallbacks | None = None,
    concurrency: int = 4,
) -> BuildRun:
    """A build into `folder`/`out` with the cache `folder`/`cache`."""
    with (
        as_file(files("memaudit.examples.short") / "conversations.jsonl") as path,
        Cache(folder / cache) as opened,
    ):
        session = open_session(settings, opened, folder / "requests.jsonl", callbacks, concurrency)
        job = BuildJob(path, conversations=conversations)
        return BuildRun(build_into_with_model(job, recipe, session, folder / out), session)


def queue(folder: Path) -> list[str]:
    """The batch queue's work: every request of the file is answered by the fake model."""
    rows = [json.loads(line) for line in (folder / "requests.jsonl").read_text().splitlines()]
    lines = [
        {
            "custom_id": row["custom_id"],
            "error": None,
            "response": {"status_code": 200, "body": completion(json.dumps(answer(row["body"])))},
        }
        for row in rows
    ]
    responses = folder / "responses.jsonl"
    responses.write_text("".join(json.dumps(line) + "\n" for line in lines))
    with Cache(folder / "cache") as cache:
        assert import_batch(cache, responses).waiting == 0
    return sorted(f"{which(row['body'])} {row['body']['model']}" for row in rows)


@dataclass(frozen=True)
class FinishedBuild:
    """A finished live build, and everything that reached the server."""

    folder: Path
    made: BuildRun
    served: Served
