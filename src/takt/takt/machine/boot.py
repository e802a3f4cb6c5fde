# SPDX-License-Identifier: Apache-2.0
"""How a word gets onto the kernel command line of this machine."""

from __future__ import annotations

from takt.machine.system import System

_GRUB = "/etc/default/grub"
_RASPBERRY = ("/boot/firmware/cmdline.txt", "/boot/cmdline.txt")


def boot_option_fix(system: System, option: str) -> str:
    """The file to change and the command that makes it count."""
    if system.exists("/usr/sbin/update-grub") and system.exists(_GRUB):
        edit = f"sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{option} /' {_GRUB}"
        return f"{edit} && sudo update-grub   # then reboot"
    if system.exists("/usr/sbin/grubby"):
        return f"sudo grubby --update-kernel=ALL --args='{option}'   # then reboot"
    for file in _RASPBERRY:
        if system.exists(file):
            return f"sudo sed -i '1s/$/ {option}/' {file}   # then reboot"
    return f"add to the kernel command line: {option}   (then reboot)"
