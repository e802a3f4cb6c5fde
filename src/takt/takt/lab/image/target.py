# SPDX-License-Identifier: Apache-2.0
"""What the target does, from its first program to its power switch."""

from __future__ import annotations

from takt.lab import initramfs
from takt.lab.guest import DONE, UP

SERIAL = "7A4B-7400"  # of the stick's file system; the same in each image, for the same bytes
EXPERIMENT = "takt.experiment"  # on the kernel's command line
EXPERIMENTS, RESULTS, LOG = "experiments", "results", "takt.log"  # on the stick
STICK = "/stick"
ENVIRONMENT, POWEROFF, TAKT = "lab/environment", "lab/own/poweroff", "lab/own/takt"
FAILED = "takt-lab: failed"
FIND_S = 30  # a stick behind a hub takes its time
READ_S = 20  # for what went wrong, before the screen goes dark

POWEROFF_SCRIPT = f"""#!/lab/busybox sh
# For a person at the shell: what was written has to be on the stick.
cd /
sync
umount {STICK} 2>/dev/null
exec /lab/busybox poweroff -f
"""

TAKT_SCRIPT = """#!/lab/busybox sh
exec "$TAKT_PYTHON" -m takt "$@"
"""

INIT = f"""#!/lab/busybox sh
/lab/busybox --install -s /lab/bin
export PATH=/lab/own:/lab/bin:/usr/bin:/usr/sbin:/usr/local/bin HOME=/root LC_ALL=C.UTF-8
export PYTHONDONTWRITEBYTECODE=1 COLUMNS=100 TERM=linux
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t debugfs debugfs /sys/kernel/debug
mount -t devtmpfs devtmpfs /dev
mkdir -p /dev/shm /dev/pts /var/tmp {STICK}
{initramfs.IN_MEMORY}
mount -t devpts devpts /dev/pts
ifconfig lo 127.0.0.1 up
hostname takt
ulimit -l unlimited
ulimit -r 99

# A screen and a serial line: whoever looks at either sees all of it.
consoles=$(cat /sys/class/tty/console/active)
others=/run/takt.log
for console in $consoles; do
    : 2>/dev/null >/dev/$console && others="$others /dev/$console"
done
mkfifo /run/words
tee $others </run/words >/dev/null 2>&1 &
exec >/run/words 2>&1
echo '{UP}'

for module in /{initramfs.MODULES}/*.ko; do insmod $module 2>/dev/null; done
. /{ENVIRONMENT}

say() {{
    echo "takt: $*"
}}

shells() {{
    say "a shell; 'takt run {EXPERIMENTS}/NAME.yaml' in {STICK} measures, 'poweroff' ends"
    say "there are:" $(cd {STICK}/{EXPERIMENTS}; ls)
    for console in $consoles; do
        [ $console = tty0 ] && console=tty1  # whichever is shown controls no shell
        ( while :; do setsid cttyhack sh -c "cd {STICK}; exec sh -i" \\
            </dev/$console >/dev/$console 2>&1; sleep 1; done ) &
    done
    while :; do wait; sleep 1; done
}}

ended() {{
    cd /
    usleep 300000  # for the last words
    sync
    cp /run/takt.log {STICK}/{LOG} 2>/dev/null
    umount {STICK} 2>/dev/null || mount -o remount,ro {STICK} 2>/dev/null
    if [ "$1" = 0 ]; then
        echo '{DONE}'
        sleep 1
    else
        echo '{FAILED}'
        say "the power goes off in {READ_S} s"
        sleep {READ_S}
    fi
    poweroff -f
}}

# The image was made without knowing the stick.
larger() {{
    whole=/dev/$(basename $(dirname $(readlink -f /sys/class/block/$(basename $1))))
    [ -b $whole ] && "$TAKT_PYTHON" -m takt.lab.image.grow $whole || return
    blockdev --rereadpt $whole
    usleep 500000
}}

mounted=
for turn in $(seq {2 * FIND_S}); do
    stick=$(findfs UUID={SERIAL}) && larger $stick
    mount -t vfat -o utf8,noatime $stick {STICK} && mounted=1
    [ "$mounted" ] && break
    usleep 500000
done 2>/run/finding
if [ ! "$mounted" ]; then
    tail -n 3 /run/finding
    say "the stick with UUID {SERIAL} is not found, or cannot be mounted"
    say "what there is: $(cat /proc/partitions | awk 'NR>2 {{print $4}}' | tr '\\n' ' ')"
    ended 1
fi

name=
for word in $(cat /proc/cmdline); do
    case $word in {EXPERIMENT}=*) name=${{word#*=}} ;; esac
done
[ "$name" ] || shells

cd {STICK}
if [ ! -f "{EXPERIMENTS}/$name.yaml" ]; then
    say "{EXPERIMENT}=$name: there is no such experiment on the stick"
    say "there are: $(cd {EXPERIMENTS}; ls *.yaml 2>&1 | sed 's/[.]yaml$//' | tr '\\n' ' ')"
    say "put $name.yaml into the stick's folder {EXPERIMENTS}, or choose another one in the menu"
    ended 1
fi
say "$(uname -sr) runs $name"
takt run "{EXPERIMENTS}/$name.yaml"
code=$?
[ $code = 0 ] || say "takt run ended with $code"
ended $code
"""
