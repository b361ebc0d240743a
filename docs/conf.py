"""The site: `pip install '.[docs]'`, then `sphinx-build -W docs site`. Pages are Markdown, read by MyST."""

project = "hloproof"
author = "the hloproof authors"
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["clients"]
html_theme = "alabaster"
html_theme_options = {"description": "claims about the movement of data, proved or refuted", "page_width": "1100px"}
html_title = "hloproof"
myst_heading_anchors = 3
suppress_warnings = ["toc.not_included", "misc.highlighting_failure"]
