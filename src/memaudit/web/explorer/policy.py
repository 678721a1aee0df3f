"""What a browser may do with a page of the explorer."""

from memaudit.web.security import POLICY

SERVED = POLICY.replace("form-action 'none'", "form-action 'self'")
"""The search form goes to the server itself; all else as for every local page."""

META = "; ".join(
    part
    for part in POLICY.replace("connect-src 'self'", "connect-src 'none'").split("; ")
    if not part.startswith("frame-ancestors")
)
"""For pages in a folder, which ask nobody for anything. A `meta` element may not say who frames a
page: browsers ignore that there, and complain."""
