"""``python -m bench.ground_truth.host``."""

from __future__ import annotations

import sys

from bench.ground_truth.host.play import main

sys.exit(main())
