"""``python -m bench.ground_truth.scripted``."""

from __future__ import annotations

import sys

from bench.ground_truth.scripted.play import main

sys.exit(main())
