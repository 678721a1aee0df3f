"""A page as one HTML file that needs nothing else."""

import base64
import hashlib
from typing import Any

from jinja2 import Environment


def one_file(jinja: Environment, template: str, **context: Any) -> str:
    """The page of a template; its policy allows no style but the house's, told by its hash."""
    style = jinja.get_template("style.css").render()
    code = base64.b64encode(hashlib.sha256(style.encode()).digest()).decode("ascii")
    return jinja.get_template(template).render(style_hash=f"sha256-{code}", **context)
