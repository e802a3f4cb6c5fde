# SPDX-License-Identifier: Apache-2.0
"""Applications: nodes, callbacks, topics, chains and scenarios, described in an app.yaml."""
