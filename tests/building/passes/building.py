"""Two embedded conversations, and builds of them."""

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from memaudit.building.build_folder import BuildJob
from memaudit.building.passes.build import build_into_with_model
from memaudit.building.passes.recipe import ModelRecipe
from memaudit.models.cache import Cache
from memaudit.models.live import RetryPolicy
from memaudit.models.session import ModelSession, ModelSettings, SessionCallbacks, open_session
from tests.models.server import Served

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
        session = open_session(settings, opened, callbacks, concurrency)
        job = BuildJob(path, conversations=conversations)
        return BuildRun(build_into_with_model(job, recipe, session, folder / out), session)


@dataclass(frozen=True)
class FinishedBuild:
    """A finished live build, and everything that reached the server."""

    folder: Path
    made: BuildRun
    served: Served
