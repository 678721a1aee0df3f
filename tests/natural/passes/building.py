"""Two embedded conversations, and builds of them."""

from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from memaudit.models.cache import Cache
from memaudit.models.providers import Settings
from memaudit.models.transport import RetryPolicy
from memaudit.natural.build_plan import Job
from memaudit.natural.passes.model_folder import build_into_with_model
from memaudit.natural.passes.model_session import Desk, Talk, open_desk
from memaudit.natural.passes.recipe import ModelRecipe

TWO = ("hotel-rooms", "film-night")
RECIPE = ModelRecipe("one", adjudicator="other")
PLAIN = ModelRecipe("one")


@dataclass(frozen=True)
class Made:
    """A build's manifest and the desk it went over."""

    manifest: dict[str, Any]
    desk: Desk

    @property
    def digests(self) -> dict[str, str]:
        return {one["name"]: one["digest"] for one in self.manifest["packages"]}

    def entry(self, name: str) -> dict[str, Any]:
        (found,) = [one for one in self.manifest["packages"] if one["name"] == name]
        return found


def live(url: str) -> Settings:
    """Asks a test server, and does not wait between tries."""
    return Settings(base_url=url, timeout=20, retry=RetryPolicy(retries=0))


def make(
    folder: Path,
    settings: Settings,
    recipe: ModelRecipe = RECIPE,
    conversations: tuple[str, ...] = TWO,
    out: str = "out",
    cache: str = "cache",
    talk: Talk | None = None,
    concurrency: int = 4,
) -> Made:
    """A build into `folder`/`out` with the cache `folder`/`cache`."""
    with (
        as_file(files("memaudit.examples.natural") / "conversations.jsonl") as path,
        Cache(folder / cache) as opened,
    ):
        desk = open_desk(settings, opened, folder / "requests.jsonl", talk, concurrency)
        job = Job(path, conversations=conversations)
        return Made(build_into_with_model(job, recipe, desk, folder / out), desk)
