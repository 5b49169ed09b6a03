"""How hypothesis runs here: as long as it takes, and straight to the smallest failing case.

`make test` tries the same examples every time, so that what passes here passes in CI. `make test-explore`
tries others on every run, and more of them: that is where new faults are found.
"""

from __future__ import annotations

import os

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "privet",
    deadline=None,  # a loaded machine is not a fault of the code
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    phases=[phase for phase in Phase if phase is not Phase.explain],
)
settings.register_profile("explore", settings.get_profile("privet"), derandomize=False, max_examples=1000)
settings.load_profile(os.environ.get("PRIVET_HYPOTHESIS", "privet"))
