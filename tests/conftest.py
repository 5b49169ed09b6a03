"""How hypothesis runs here: as long as it takes, and straight to the smallest failing case."""

from __future__ import annotations

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "privet",
    deadline=None,  # a loaded machine is no fault of the code
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.data_too_large, HealthCheck.filter_too_much],
    phases=[phase for phase in Phase if phase is not Phase.explain],
)
settings.load_profile("privet")
