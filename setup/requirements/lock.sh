#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# Locks the environments: every version and hash, for every Python and platform that Takt supports.
set -eu
cd "$(dirname "$0")"
for name in tool check dev docs release ros-jazzy ros-kilted; do
    constraint=""
    case $name in check | dev) constraint="-c tool.txt" ;; esac  # the same versions in all of them
    # shellcheck disable=SC2086
    uv pip compile --quiet --universal --python-version 3.10 --generate-hashes --no-header \
        --no-annotate --no-strip-extras $constraint "$@" -o "$name.txt" "$name.in"
done
