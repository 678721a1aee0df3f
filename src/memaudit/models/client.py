"""What every way of asking has in common."""

from typing import Protocol

from memaudit.models.outcome import Failure, Reply, ReplyT, Usage
from memaudit.models.request import Request


class ModelClient(Protocol):
    """Answers a request with a reply of the given type, or says why not.

    It raises MemAuditError only where every other request would fail as well: a wrong key, an
    unknown model, an empty account, a cache that cannot be written.
    """

    def ask(self, request: Request, reply_type: type[ReplyT]) -> Reply[ReplyT] | Failure: ...

    def stop(self) -> None:
        """Start no more calls; what is on its way may end."""
        ...

    @property
    def spent(self) -> Usage:
        """What this client has used so far; replies from the cache use nothing."""
        ...
