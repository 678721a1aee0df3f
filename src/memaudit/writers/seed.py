"""The seed a writer gets with a package."""

import hashlib


def own_seed(seed: int, package_digest: str) -> int:
    """It follows from the run's seed and the package's digest, and gives neither away.

    With the generator's own seed a writer could make the package again and look into it.
    """
    text = f"{seed} {package_digest}"
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:6], "big")
