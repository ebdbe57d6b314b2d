"""Sphinx settings of the site; docs/site/build.py puts the pages together and calls it."""

from __future__ import annotations

import harness

project = "harness"
author = "The harness developers"
release = version = harness.__version__
extensions = ["myst_parser", "sphinx.ext.autodoc"]
exclude_patterns: list[str] = []
myst_heading_anchors = 4
html_theme = "furo"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_title = f"harness {release}"
html_copy_source = html_show_sourcelink = False
html_show_copyright = False
autodoc_typehints = "description"
autodoc_member_order = "bysource"
# Types of other packages, and those that only type checkers see.
nitpicky = False
