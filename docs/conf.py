# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings of the documentation site; setup/documentation.py builds it."""

project = "Takt"
copyright = "the authors of Takt"  # noqa: A001 - Sphinx's name
extensions = ["myst_parser"]
root_doc = "index"
exclude_patterns = ["README.md"]  # index.md has it
source_suffix = {".md": "markdown"}
myst_heading_anchors = 3
myst_links_external_new_tab = True
highlight_language = "none"
html_theme = "furo"
html_title = "Takt"
html_theme_options = {"light_css_variables": {"code-font-size": "75%"}}  # 100 columns fit
html_copy_source = False
