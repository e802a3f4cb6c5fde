# SPDX-License-Identifier: Apache-2.0
"""From what a running application did to the app.yaml that describes it."""
