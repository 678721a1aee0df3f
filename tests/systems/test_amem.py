"""A-Mem end to end."""

from tests.systems.conftest import Run, package


def test_notes_evolve(run: Run) -> None:
    """A later note about chess links to the first and changes its context; the others stay."""
    told = ("Ann plays chess.", "Bob sings.", "Ann lost at chess.")
    store = run("amem", [package("ann", *told)]).store
    first, second, third = store.active
    assert first.text == (
        "memory content: Ann: Ann plays chess.\nmemory context: About plays. Told again.\n"
        "memory keywords: plays, chess\nmemory tags: diary, linked"
    )
    assert first.metadata["written_after"] == ["e0", "e2"]
    assert second.metadata["written_after"] == ["e1"]
    assert third.metadata["links"] == [first.id]
    assert first.created_at == "2024-03-01T09:00"
    assert store.origin.configuration["changes"] == {"add": 3, "update": 1}


def test_which_modules_were_stand_ins_is_written_down(run: Run) -> None:
    store = run("amem", [package("ann", "Ann plays chess.")]).store
    stand_ins = store.origin.configuration["stand_ins"]
    assert isinstance(stand_ins, list)
    assert "sentence_transformers" in stand_ins
