"""Settings are in pyproject.toml. build/ is emptied, or old files in it would go into the wheel.

A documentation site that is older than docs/ stays out of the wheel.
"""

import shutil
from pathlib import Path

from setuptools import setup

HERE = Path(__file__).parent
SITE = HERE / "service/llr_service/guide/site"


def is_stale() -> bool:
    """Whether a page of docs/ has changed since the site was built from it."""
    index = SITE / "index.html"
    pages = [*HERE.glob("docs/*.md"), *HERE.glob("zensical.toml")]
    built = index.stat().st_mtime if index.is_file() else 0.0
    return any(page.stat().st_mtime > built for page in pages)


shutil.rmtree("build", ignore_errors=True)
setup(exclude_package_data={"llr_service.guide": ["site/**"]} if is_stale() else {})
