"""All deliberate errors; names say where they are."""

from engine_errors import ENGINES
from foundation_errors import FOUNDATIONS
from run_errors import RUNS
from sampler_errors import SAMPLERS

MUTATIONS = [*SAMPLERS, *FOUNDATIONS, *ENGINES, *RUNS]
