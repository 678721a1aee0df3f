"""Small files that ask for much are refused, or are done with at once."""

from collections.abc import Iterator

import pytest

from tests.hardening.bombs import BOMBS, Bomb
from tests.hardening.box import Box


@pytest.fixture(scope="module")
def box(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Box]:
    made = Box(tmp_path_factory.mktemp("bombs") / "around" / "box")
    yield made
    made.close()


@pytest.mark.parametrize("bomb", BOMBS.values(), ids=BOMBS.keys())
def test_bomb(bomb: Bomb, box: Box) -> None:
    """Neither a minute nor a gigabyte and a half; one line or a counted result."""
    make, commands = bomb
    box.run(make, [command.split(" ") for command in commands])
