"""Damaged files of every kind: an exit code, one clear line or a counted result, nothing else."""

import logging

import pytest
from hypothesis import given
from hypothesis import strategies as st

from memaudit.conversations.registry import LOADERS
from memaudit.stores.registry import ADAPTERS
from tests.hardening.box import Box
from tests.hardening.edits import FUZZ, Edit, edits
from tests.hardening.targets import Target, adapter_targets, all_targets, dataset_targets

pytestmark = pytest.mark.slow


LOG = logging.getLogger(__name__)
every_target = pytest.mark.parametrize("target", all_targets(), ids=lambda target: target.name)


def test_every_importer_and_loader_is_attacked() -> None:
    named = {word for one in adapter_targets() for command in one.commands for word in command}
    assert set(ADAPTERS) <= named
    assert {one.name.removeprefix("dataset, ") for one in dataset_targets()} == set(LOADERS)


@every_target
def test_undamaged(target: Target, box: Box) -> None:
    """The files as they are: every command succeeds, so damage is what the others see."""
    ended = box.run(target.write, target.commands)
    wrong = [one.err + one.out for one in ended if one.code != 0]
    assert wrong == []


@every_target
def test_damaged(target: Target, box: Box) -> None:
    before = box.ran

    @FUZZ
    @given(st.integers(0, len(target.attacked) - 1), edits)
    def attack(number: int, steps: list[Edit]) -> None:
        name = target.attacked[number]
        data = target.files[name]
        for step in steps:
            data = step(data)
        box.run(lambda folder: target.write(folder, {name: data}), target.commands)

    attack()
    LOG.info("%s: %d inputs", target.name, box.ran - before)
