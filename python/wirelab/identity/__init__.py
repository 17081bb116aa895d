"""Identity before speed: only services that behave like the canonical model are measured.

The engine compares a service with the canonical model (:mod:`~wirelab.identity.examining`). Known
gaps of a service are listed in a data file with their reasons (:mod:`~wirelab.identity.verdict`). A
passed examination is stored as a proof for that binary (:mod:`~wirelab.identity.verifying`) and is
part of every result.
"""

from wirelab.identity.examining import examine
from wirelab.identity.finding import Exam, Examination, Finding
from wirelab.identity.point import identity_stack, points
from wirelab.identity.verdict import Cell, Gaps, Verdict, judge, load
from wirelab.identity.verifying import Admission, Proofs, Verifier, choose_points, verify

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
    "choose_points",
    "examine",
    "identity_stack",
    "judge",
    "load",
    "points",
    "verify",
]
