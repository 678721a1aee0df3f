"""How stores are to be scored: every choice in one place, and what does not go together.

The command line, the API and the pytest fixture all make a plan, so that they refuse the same
things and score alike. Texts of refusals name parameters; the command line writes them as options.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Self

from memaudit.judges.asking import AskPlan, Goal, score_asking
from memaudit.judges.defaults import DEFAULT_JUDGE
from memaudit.judges.offline_judge import OFFLINE, OfflineJudge
from memaudit.judges.registry import (
    judge_files,
    named_judge,
    named_judges,
)
from memaudit.judges.salience import named_salience, salience_files, salience_model
from memaudit.kernel.errors import MemAuditError, ParameterError
from memaudit.kernel.io.store_file import ExportedStore
from memaudit.kernel.package.budgets import AskedBudget, asked_budgets
from memaudit.kernel.package.package import Package
from memaudit.kernel.score.judge import Judge, refuse_shared_ids
from memaudit.kernel.score.package_scores import apply_overrides, score_package
from memaudit.kernel.score.priced_store import Salience
from memaudit.kernel.score.pruning import named_policy
from memaudit.kernel.score.result import DRAWS, Asked, ScoreResult, Scoring
from memaudit.stores.system_budgets import Limit, is_limit, named_limits

if TYPE_CHECKING:
    from memaudit.models.session import ModelSession

LABELS = "labels"

GivenJudges = Sequence[str] | Judge | Mapping[str, Judge]
"""Names, of which several are files of labels or calls by store; a judge; or judges by store."""


@dataclass(frozen=True, slots=True)
class ScorePlan:
    """Every choice of a score; `of` makes a plan and checks it before any store is read."""

    budgets: object = None
    """A text such as "10%,250", a list, or the name of a system with limits; None for the usual."""
    judge: GivenJudges = (DEFAULT_JUDGE,)
    label_memories: Path | None = None
    """Which texts the ids of labels stand for."""
    ask: str | Judge | None = None
    """Whom to ask about the cells that the verdict hangs on."""
    max_cells: int | None = None
    min_score: float | None = None
    """The score that a gate asks for."""
    policy: str | None = None
    salience: Sequence[str] | Salience = ()
    """Sources as commands name them: [query:]model:NAME or [query:][STORE=]FILE."""
    cost_rule: str | None = None
    stores_only: bool = False
    group_cap: int | None = None
    seconds: float | None = None
    threads: int | None = None
    trust_package_cells: bool = False
    draws: int = DRAWS
    packages: int = 1
    journal: Path | None = None
    outputs: tuple[str, ...] = ()
    """Parameters that were given and that one package alone can answer."""
    limits: tuple[Limit, ...] = field(default=(), init=False)
    """The limits that `budgets` named."""

    def __post_init__(self) -> None:
        if isinstance(self.budgets, str) and is_limit(self.budgets):
            object.__setattr__(self, "limits", tuple(named_limits(self.budgets)))

    @classmethod
    def of(
        cls, *, judge: str | GivenJudges | None = None, draws: int | None = None, **given: object
    ) -> Self:
        """A plan that was checked; None stands for what is usual."""
        names = (DEFAULT_JUDGE,) if judge is None else judge
        plan = cls(
            judge=(names,) if isinstance(names, str) else names,
            draws=DRAWS if draws is None else draws,
            **given,  # type: ignore[arg-type]
        )
        plan.check()
        return plan

    def check(self) -> None:
        """Refuse the first thing that does not go together."""
        for refusal in REFUSALS:
            for name in refusal.given:
                if _is_given(self, name) and refusal.broken(self):
                    text = refusal.text.replace("{given}", f"{{{name}}}")
                    raise ParameterError(text, value=self.budgets)
        named_policy(self.policy)
        checked_seconds(self.seconds)
        if self.threads is not None and self.threads < 1:
            raise MemAuditError(f"threads must be at least 1, not {self.threads}")
        _ = self.asked_budgets

    @property
    def names(self) -> tuple[str, ...]:
        """The judges that were given by name."""
        return tuple(self.judge) if isinstance(self.judge, Sequence) else ()

    @property
    def asked_models(self) -> list[tuple[str, str]]:
        """Every parameter that asks a model, with its value."""
        named = [("judge", name) for name in self.names]
        named += [("ask", self.ask)] if isinstance(self.ask, str) else []
        if not isinstance(self.salience, Salience):
            named += [("salience", source) for source in self.salience]
        return [(parameter, text) for parameter, text in named if salience_model(text)]

    @property
    def in_one_process(self) -> str:
        """The first parameter that several processes cannot share, if any."""
        if self.asked_models:
            name, value = self.asked_models[0]
            return f"{name} {value}"
        return "ask" if self.ask is not None else ""

    def files(self, stores: Sequence[str]) -> list[Path]:
        """The files that judges and policies read, in their order."""
        sources = [] if isinstance(self.salience, Salience) else list(self.salience)
        asked = [self.ask] if isinstance(self.ask, str) else []
        return [
            *judge_files([*self.names, *asked], self.label_memories),
            *salience_files(sources, stores=stores),
        ]

    def prepared(self, package: Package) -> Package:
        """The package with the plan's costs, and without candidates where stores alone count."""
        return apply_overrides(package, self.cost_rule, self.stores_only)

    def scoring(
        self, stores: Sequence[ExportedStore], session: "ModelSession | None" = None
    ) -> Scoring:
        """How these stores are scored."""
        salience = self.salience
        if not isinstance(salience, Salience):
            salience = named_salience(salience, [store.name for store in stores], session)
        return Scoring(
            budgets=self.asked_budgets,
            judges=self.judges(stores, session),
            salience=salience,
            group_cap=self.group_cap,
            seconds=self.seconds,
            threads=self.threads,
            trust_package_cells=self.trust_package_cells,
            policy=named_policy(self.policy),
            draws=self.draws,
        )

    @property
    def asked_budgets(self) -> tuple[AskedBudget, ...] | None:
        """The budgets; None for the usual ones, and under limits."""
        return None if self.budgets is None or self.limits else asked_budgets(self.budgets)

    def judges(
        self, stores: Sequence[ExportedStore], session: "ModelSession | None" = None
    ) -> Mapping[str, Judge]:
        """The judge of each store: one for all, or one each."""
        if isinstance(self.judge, Mapping):
            if missing := [store.name for store in stores if store.name not in self.judge]:
                raise MemAuditError(f"no judge is given for the store {missing[0]!r}")
            return self.judge
        if len(self.names) > 1:
            return self._by_store(stores, session)
        judge = (
            named_judge(self.judge[0], self._memories_for(self.judge[0]), session)
            if isinstance(self.judge, Sequence)
            else self.judge
        )
        refuse_shared_ids(judge, stores)
        return {store.name: judge for store in stores}

    def _by_store(
        self, stores: Sequence[ExportedStore], session: "ModelSession | None"
    ) -> dict[str, Judge]:
        kinds = {name.partition(":")[0] for name in self.names}
        if len(self.names) != len(stores) or not (kinds == {"labels"} or kinds == {"calls"}):
            raise MemAuditError(
                "give one judge for all stores, or one labels:FILE or calls:FILE per store, in "
                "their order; memaudit study sensitivity compares judges"
            )
        by_file = named_judges(self.names, self.label_memories, session)
        return {store.name: judge for store, judge in zip(stores, by_file, strict=True)}

    def asking(
        self,
        session: "ModelSession | None" = None,
        progress: Callable[[Asked], None] = lambda _: None,
    ) -> AskPlan | None:
        """Whom to ask about doubtful cells, if anybody."""
        if self.ask is None:
            return None
        judge = (
            named_judge(self.ask, self._memories_for(self.ask), session)
            if isinstance(self.ask, str)
            else self.ask
        )
        return AskPlan(
            judge,
            None if self.min_score is None else Goal(minimum=self.min_score),
            self.max_cells,
            progress=progress,
        )

    def _memories_for(self, name: str) -> Path | None:
        """Labelled memories belong to labels, whether these judge or are asked.

        A judge that is no labels gets them too where nobody else can use them, and refuses them.
        """
        labels = f"{LABELS}:"
        asks_labels = isinstance(self.ask, str) and self.ask.startswith(labels)
        if name.startswith(labels) or (name != self.ask and not asks_labels):
            return self.label_memories
        return None

    def under(self, limit: Limit) -> "ScorePlan":
        """The plan at one limit of a system, measured by the limit's rule."""
        return replace(self, budgets=str(limit.most), cost_rule=limit.rule)

    def score(
        self,
        package: Package,
        stores: Sequence[ExportedStore],
        scoring: Scoring,
        asking: AskPlan | None = None,
    ) -> ScoreResult:
        """Score one package, asking another judge where the plan says so."""
        subject = self.prepared(package)
        if asking is None:
            return score_package(subject, stores, scoring)
        return score_asking(subject, stores, scoring, asking)


def checked_seconds(seconds: float | None) -> float | None:
    """The seconds; an error if they are not above 0."""
    if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
        raise MemAuditError(f"seconds must be above 0, not {seconds:g}")
    return seconds


@dataclass(frozen=True, slots=True)
class Refusal:
    """A parameter that a plan cannot have; `{given}` in the text is the one that was given."""

    given: tuple[str, ...]
    broken: Callable[[ScorePlan], bool]
    text: str


def _is_given(plan: ScorePlan, name: str) -> bool:
    return name in plan.outputs or getattr(plan, name, None) not in (None, False, (), "")


def _asks_offline(plan: ScorePlan) -> bool:
    """Whether one offline judge judges everything first."""
    judge = plan.judge
    if isinstance(judge, Mapping):
        return all(isinstance(own, OfflineJudge) for own in judge.values())
    if plan.names:
        return len(plan.names) == 1 and plan.names[0].partition(":")[0] == OFFLINE
    return isinstance(judge, OfflineJudge)


# The first that holds is told. What makes others moot comes first: someone who gives limits and
# `ask` has to drop one of them before its own conditions matter.
REFUSALS: tuple[Refusal, ...] = (
    Refusal(
        ("cost_rule", "ask", "out"),
        lambda plan: bool(plan.limits),
        "{budgets} {value} brings its own cost rule and is solved limit by limit; leave out "
        "{cost_rule}, {ask} and {out}",
    ),
    Refusal(
        ("explain", "save_union", "out", "better"),
        lambda plan: plan.packages > 1,
        "{given} needs a single package; score one package at a time",
    ),
    Refusal(
        ("limits",),
        lambda plan: plan.packages > 1,
        "{budgets} {value} needs a single package; score one package at a time",
    ),
    Refusal(("max_cells",), lambda plan: plan.ask is None, "{max_cells} goes with {ask}"),
    Refusal(
        ("max_cells",),
        lambda plan: (plan.max_cells or 0) < 1,
        "{max_cells} must be at least 1",
    ),
    Refusal(
        ("ask",),
        lambda plan: not _asks_offline(plan),
        "{ask} goes with {judge} offline, whose doubts it settles",
    ),
    Refusal(
        ("ask",),
        lambda plan: not plan.draws,
        "{ask} needs {draws}: they say which pairs are in doubt",
    ),
    Refusal(
        ("ask",),
        lambda plan: plan.trust_package_cells,
        "{ask} cannot settle cells that a rule gave; leave out {trust_package_cells}",
    ),
    Refusal(
        ("min_score",),
        lambda plan: not 0 <= (plan.min_score or 0) <= 1,
        "{min_score} must be between 0 and 1",
    ),
)
"""What does not go together, in the order in which it is checked."""
