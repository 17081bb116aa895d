"""Identity before speed: a service is the same as all others, or it is not measured.

The engine examines a service beside the canonical model (:mod:`~wirelab.identity.examining`);
what a service is known not to do stands in a file of data with its reason
(:mod:`~wirelab.identity.verdict`); a passed examination is kept as a proof for that binary
(:mod:`~wirelab.identity.verifying`) and travels with every result.
"""

from wirelab.identity.examining import examine
from wirelab.identity.finding import Exam, Examination, Finding
from wirelab.identity.point import identity_stack, points
from wirelab.identity.verdict import Cell, Gaps, Verdict, judge, load
from wirelab.identity.verifying import Admission, Proofs, Verifier, chosen, verify

__all__ = [
    "Admission",
    "Cell",
    "Exam",
    "Examination",
    "Finding",
    "Gaps",
    "Proofs",
    "Verdict",
    "Verifier",
    "chosen",
    "examine",
    "identity_stack",
    "judge",
    "load",
    "points",
    "verify",
]
