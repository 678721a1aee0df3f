"""A name for what a view shows, whatever its ids: it keeps training and held-out apart."""

import hashlib
import json

from memaudit.writers.view import View


def content_digest(view: View) -> str:
    """The SHA-256 of what was said and what was offered, in hex.

    Ids, the order of a group's candidates (it comes from ids) and the names of sessions do not
    change it. Costs, confidences and the group cap do not either: the same content measured by
    another rule is still the same content.
    """
    sessions: dict[str | None, int] = {None: -1}
    steps = []
    for experience, group in zip(view.experiences, view.groups, strict=True):
        session = sessions.setdefault(experience.session, len(sessions) - 1)
        offered = sorted((candidate.kind, candidate.text) for candidate in group)
        steps.append([session, experience.timestamp, experience.speaker, experience.text, offered])
    text = json.dumps(steps, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
