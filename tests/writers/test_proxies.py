"""Each proxy on views small enough to follow by hand."""

from fractions import Fraction

from memaudit.writers.amac_style import AMacStyle
from memaudit.writers.amem_style import AMemStyle
from memaudit.writers.mem0_style import Mem0Style
from memaudit.writers.memgpt_style import MemGptStyle
from memaudit.writers.protocol import Deployable, View
from tests.writers.running import view_of

F = Fraction


def kept(writer: Deployable, view: View, budget: int) -> list[str]:
    return list(writer.write(view, F(budget), 0))


class TestMemGpt:
    """Core first, evicting into the archive; the archive forgets the oldest."""

    def test_core_takes_facts_and_the_archive_what_is_left(self) -> None:
        view = view_of(
            [("raw", "Ann moved to Rome, now.", 5), ("fact", "Ann: Rome", 2),
             ("compound_update", "Ann: Rome, not Oslo", 3)],
            [("summary", "small talk", 3), ("raw", "just small talk", 4)],
        )  # fmt: skip
        assert kept(MemGptStyle(), view, 100) == ["0.2", "1.1"]

    def test_core_overflows_into_the_archive(self) -> None:
        """Budget 8, core 2: each fact of 2 pushes the last one into the archive of 6.

        After the fourth fact 8 are spent; the fifth pushes the first one out.
        """
        view = view_of(*([("fact", f"fact {n}", 2)] for n in range(5)))
        assert kept(MemGptStyle(), view, 8) == ["1.0", "2.0", "3.0", "4.0"]

    def test_core_outlives_the_archive(self) -> None:
        """Budget 8: the fact stays in core while spans of 3 push each other out."""
        view = view_of(
            [("fact", "early", 2)],
            [("raw", "a", 3)], [("raw", "b", 3)], [("raw", "c", 3)],
        )  # fmt: skip
        assert kept(MemGptStyle(), view, 8) == ["0.0", "2.0", "3.0"]

    def test_what_never_fits_is_skipped(self) -> None:
        """The span costs more than the budget, so the summary is kept."""
        view = view_of([("raw", "long", 9), ("summary", "short", 4)])
        assert kept(MemGptStyle(), view, 8) == ["0.1"]


class TestMem0:
    """Add, update, delete, ignore."""

    def test_adds_facts_only(self) -> None:
        view = view_of(
            [("raw", "Ann works at Acme", 5), ("fact", "Ann works at Acme", 3)],
            [("summary", "Bob", 1), ("compound_update", "Bob, not Rob", 1)],
        )
        assert kept(Mem0Style(), view, 100) == ["0.1"]

    def test_an_update_replaces_the_older_version(self) -> None:
        """Shared: ann, works; all: ann, works, acme, zeta. Overlap 1/2: the same topic."""
        view = view_of(
            [("fact", "Ann works at Acme", 3)],
            [("fact", "Bob plays the viola", 4)],
            [("fact", "Ann works at Zeta", 3)],
        )
        assert kept(Mem0Style(), view, 100) == ["1.0", "2.0"]

    def test_a_duplicate_changes_nothing(self) -> None:
        view = view_of([("fact", "Ann works at Acme", 3)], [("fact", "At Acme, Ann works", 4)])
        assert kept(Mem0Style(), view, 100) == ["0.0"]

    def test_a_tombstone_deletes_and_is_not_kept(self) -> None:
        """It holds for what came before, not for the fact that came with it."""
        view = view_of(
            [("fact", "Lives in Leeds", 3)],
            [("fact", "Likes tea", 2)],
            [("fact", "New address: Bristol", 3), ("tombstone", "Leeds: no longer valid", 4)],
        )
        assert kept(Mem0Style(), view, 100) == ["1.0", "2.0"]

    def test_over_budget_the_oldest_go(self) -> None:
        view = view_of(*([("fact", text, 3)] for text in ("apples", "pears", "plums")))
        assert kept(Mem0Style(), view, 7) == ["1.0", "2.0"]

    def test_the_surest_fact_of_a_message(self) -> None:
        view = view_of([("fact", "maybe", 1, F(1, 3)), ("fact", "surely", 1, F(2, 3))])
        assert kept(Mem0Style(), view, 9) == ["0.1"]


class TestAMem:
    """Links keep a note alive."""

    def test_the_linked_note_outlives_the_lonely_one(self) -> None:
        """Budget for two notes: Rome (linked by the third) stays, tea goes."""
        view = view_of(
            [("raw", "a trip to Rome", 4)],
            [("raw", "likes green tea", 4)],
            [("raw", "Rome hotel booked", 4)],
        )
        assert kept(AMemStyle(), view, 8) == ["0.0", "2.0"]

    def test_links_fade(self) -> None:
        """Rome holds one link, 2 at step 1; 14 steps of decay bring it below a new note's 1.

        0.95 to the 13th is 0.513, so 2 falls to 1.03; to the 14th 0.488, so to 0.98.
        """
        lonely = [[("raw", f"topic{n}", 4)] for n in range(20)]
        stream = [[("raw", "trip Rome", 4)], [("raw", "Rome hotel", 4)]]
        for more, survives in ((13, True), (14, False)):
            view = view_of(*stream, *lonely[:more])
            assert ("1.0" in kept(AMemStyle(), view, 4)) == survives

    def test_full_notes_come_first(self) -> None:
        """A note is the span where that fits the budget at all, else the summary."""
        view = view_of([("fact", "f", 1), ("raw", "long span", 6), ("summary", "short", 3)])
        assert kept(AMemStyle(), view, 6) == ["0.1"]
        assert kept(AMemStyle(), view, 5) == ["0.2"]


class TestAMac:
    """Admission gets stricter as the store fills; nothing is evicted."""

    def test_type_decides_between_forms(self) -> None:
        view = view_of([("raw", "Ann works at Acme", 4), ("fact", "Ann works at Acme", 4)])
        assert kept(AMacStyle(), view, 100) == ["0.1"]

    def test_a_repeated_fact_is_turned_away(self) -> None:
        """First: 0.35*0.8 + 0.15 + 0.2 + 0.1/2 = 0.68, above 0.5; the store is then half full.

        0.7 is asked of the second: without novelty it scores 0.28 + 0.15 + 0.1 = 0.53, with it
        0.73. Three words of length add 0.2*0.1*3/13 = 0.005 to each.
        """
        view = view_of([("fact", "green apples taste", 3)], [("fact", "apples taste green", 3)])
        assert kept(AMacStyle(), view, 9) == ["0.0"]
        other = view_of([("fact", "green apples taste", 3)], [("fact", "purple plums grow", 3)])
        assert kept(AMacStyle(), other, 9) == ["0.0", "1.0"]

    def test_confidence_counts(self) -> None:
        """A span scores 0.35*0.2 + 0.15*confidence + 0.2 + 0.1 + cues of 0.005 (one word).

        Sure of it: 0.525, admitted. Not at all: 0.375, refused.
        """
        assert kept(AMacStyle(), view_of([("raw", "apples", 1, F(1))]), 9) == ["0.0"]
        assert kept(AMacStyle(), view_of([("raw", "apples", 1, F(0))]), 9) == []
