# SPDX-License-Identifier: Apache-2.0
"""Writes the generated part of the reference anew."""

from takt.reference import ROOT, files

if __name__ == "__main__":
    for name, text in files().items():
        file = ROOT / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text(), encoding="utf-8")
