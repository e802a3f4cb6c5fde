# SPDX-License-Identifier: Apache-2.0
"""The statements of Ye et al. 2023 on wake-ups, timers and an EtherCAT master, as checks.

Each is about one of the paper's two kernels and is asked only where that one runs.
"""

from __future__ import annotations

from takt.reproduce.criterion import EFFECT
from takt.reproduce.quantity import Check
from takt.reproduce.ye2023 import runs
from takt.reproduce.ye2023.quantities import (
    CYCLES_OF_TIMER,
    ETHERCAT,
    JITTER,
    NEVER,
    OF_ONE_LENGTH,
    SHORTEST_WAKEUPS,
    WAKEUP,
    Checked,
    highest,
    how_often,
    only_native,
    only_realtime,
    over_periods,
)

# The two kernels of table 4 and figures 25 and 26; each statement is asked of its own kernel.
WAKEUPS: dict[str, Checked] = {
    "wakeup-native-too-late": Check(
        f"highest_us > published_limit_us + (published_max_us - published_limit_us) {EFFECT}",
        {"highest_us": highest("highest latency in µs of a run", runs.highest, label=WAKEUP)},
        differs=OF_ONE_LENGTH,
        length=SHORTEST_WAKEUPS,
        not_asked=only_native,
    ),
    "wakeup-rt-highest": Check(
        f"later {NEVER}",
        {"later": how_often("wake-ups later than 82 µs", runs.beyond, 83.0, label=WAKEUP)},
        not_asked=only_realtime,
    ),
    "wakeup-rt-average": Check(
        "p50_us <= 2 * published_avg_us",
        {"p50_us": over_periods("median latency in µs", runs.p50, "mean", WAKEUP)},
        differs="medians here, as one stolen time slice moves an average",
        not_asked=only_realtime,
    ),
}

JITTERS: dict[str, Checked] = {
    "jitter-native": Check(
        f"highest_us > published_limit_us + (published_highest_us - published_limit_us) {EFFECT}",
        {
            "highest_us": highest(
                "largest jitter in µs of a run, early or late",
                runs.jitter_highest,
                how="highest",
                label=JITTER,
            )
        },
        differs=OF_ONE_LENGTH,
        length=CYCLES_OF_TIMER,
        not_asked=only_native,
    ),
    "jitter-rt": Check(
        f"beyond_60us {NEVER}",
        {
            "beyond_60us": how_often(
                "cycles too short or too long by 60 µs or more",
                runs.jitter_beyond,
                60.0,
                label=JITTER,
            )
        },
        not_asked=only_realtime,
    ),
    # Nothing is published but that it is stable.
    "jitter-rates-alike": Check(
        "widest_us <= 2 * narrowest_us",
        {
            "narrowest_us": over_periods(
                "standard deviation of the jitter in µs", runs.jitter_size, "lowest", JITTER
            ),
            "widest_us": over_periods(
                "standard deviation of the jitter in µs", runs.jitter_size, "highest", JITTER
            ),
        },
        not_asked=only_realtime,
    ),
    "jitter-within-10us": Check(
        "within_10us > 0.5",
        {
            "within_10us": how_often(
                "cycles too short or too long by less than 10 µs",
                runs.jitter_within,
                10.0,
                label=JITTER,
            )
        },
        not_asked=only_realtime,
    ),
    # An exponential distribution is 0.16 from its normal fit; half of that is rather normal. Normal
    # values are 0.6 / √n from it by chance.
    "jitter-normal": Check(
        "distance <= 0.08",
        {
            "distance": over_periods(
                "largest distance of the jitter's distribution from that of its normal fit, "
                "from 0 to 1 (Kolmogorov, Smirnov), less what as many normal values have by chance",
                runs.jitter_distance,
                "mean",
                JITTER,
            )
        },
        shown={
            "rejected": over_periods(
                "runs in which D'Agostino and Pearson's test rejects the normal distribution at "
                "1 %, as a share",
                runs.jitter_rejected,
                "mean",
                JITTER,
            )
        },
        not_asked=only_realtime,
    ),
}

SIMULATED = "simulated slaves, whose frames pass through the kernel only"
CYCLES: dict[str, Checked] = {
    "ethercat-cycle": Check(
        f"outside {NEVER}",
        {
            "outside": how_often(
                "cycles shorter than 982.5 µs or longer than 1022.4 µs",
                runs.period_outside,
                982.5,
                1022.4,
                label=ETHERCAT,
            )
        },
        differs=SIMULATED,
        shown={
            "p999_us": over_periods(
                "period in µs that 99.9 % keep", runs.period_p999, "mean", ETHERCAT
            ),
            "wrong_counters": over_periods(
                "cycles in which not every slave took part", runs.wrong_counters, "mean", ETHERCAT
            ),
        },
        not_asked=only_realtime,
    ),
    "ethercat-average": Check(
        "off_us <= 2 * published_off_us",
        {
            "off_us": over_periods(
                "how far the mean period is from 1000 µs, in µs", runs.period_off, "mean", ETHERCAT
            )
        },
        differs=SIMULATED,
        not_asked=only_realtime,
    ),
    "ethercat-highest": Check(
        f"longer {NEVER}",
        {
            "longer": how_often(
                "cycles longer than 1022.4 µs", runs.period_outside, 0.0, 1022.4, label=ETHERCAT
            )
        },
        differs=SIMULATED,
        not_asked=only_realtime,
    ),
}
