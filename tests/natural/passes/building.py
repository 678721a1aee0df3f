"""Two embedded conversations, and builds of them."""

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from memaudit.models.cache import Cache
from memaudit.models.providers import ModelSettings
from memaudit.models.session import ModelSession, SessionCallbacks, open_session
from memaudit.models.transport import RetryPolicy
from memaudit.natural.build_plan import BuildJob
from memaudit.natural.passes.build import build_into_with_model
from memaudit.natural.passes.recipe import ModelRecipe

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
        (found,) = [one for one in self.manifest["packages"] if one["name"] == name]
        return found


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
        as_file(files("memaudit.examples.natural") / "conversations.jsonl") as path,
        Cache(folder / cache) as opened,
    ):
        session = open_session(settings, opened, folder / "requests.jsonl", callbacks, concurrency)
        job = BuildJob(path, conversations=conversations)
        return BuildRun(build_into_with_model(job, recipe, session, folder / out), session)
