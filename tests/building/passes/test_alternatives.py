"""Equal alternatives: one unit, whose cell is the largest of theirs for every candidate."""

from pathlib import Path
from typing import Any

from memaudit.building.build_folder import packages_at
from tests.building.passes.building import RECIPE, live, make
from tests.building.passes.fake_model import which
from tests.building.passes.test_misbehaviour import changed
from tests.models.server import serving


def test_one_unit_whose_cells_are_the_largest(tmp_path: Path) -> None:
    """Each question that the fake answers with several units takes the first, or any other."""

    def offers(reply: dict[str, Any], _: dict[str, Any]) -> None:
        first, *others = reply["required"] or [None]
        if others:
            reply["required"] = [{**first, "or": [row["unit"] for row in others]}]

    with serving(changed("requirements", offers)) as served:
        make(tmp_path, live(served.url), RECIPE, ("hotel-rooms",))
    (package,) = packages_at(tmp_path / "out")
    units = {unit.id: unit for unit in package.units}
    merged = [unit for unit in package.units if unit.alternatives]
    assert merged
    cells = {(row.candidate, row.unit): row for row in package.coverage}
    seen = set()
    for unit in merged:
        ids = unit.attributes["units"]
        assert isinstance(ids, list)
        members = [units[str(id)] for id in ids]
        assert unit.id == "-or-".join(member.id for member in members)
        assert (unit.text, *unit.alternatives) == tuple(member.text for member in members)
        assert set(unit.sources) == {source for one in members for source in one.sources}
        assert unit.said_by == members[0].said_by
        assert unit.said_by in ("Ingrid", "assistant")
        for candidate in package.candidates:
            own = [cells[candidate.id, member.id].value for member in members]
            assert cells[candidate.id, unit.id].value == max(own)
            seen.add(min(own) < max(own))
    assert seen == {True, False}
    alone = [query.required for query in package.queries if len(query.required) == 1]
    assert {unit.id for unit in merged} <= {required for (required,) in alone}
    proposals = [
        body["messages"][1]["content"] for body in served.bodies if which(body) == "adjudication"
    ]
    assert any('"or": [' in text for text in proposals)
