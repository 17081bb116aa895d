"""Identity before speed: a service is the same as all others, or it is not measured.

The engine examines a service beside the canonical model (:mod:`~wirelab.identity.examining`);
what a service is known not to do stands in a file of data with its reason
(:mod:`~wirelab.identity.gaps`); a passed examination is kept as a proof for that binary
(:mod:`~wirelab.identity.proofs`) and travels with every result.
"""

from wirelab.identity.admission import Admission
from wirelab.identity.examining import Exam, Examination, Finding, examine
from wirelab.identity.gaps import Gaps, load
from wirelab.identity.point import identity_stack, points
from wirelab.identity.proofs import Proofs
from wirelab.identity.verdict import Cell, Verdict, judge
from wirelab.identity.verifying import Verifier, chosen, verify

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
