"""From a law or a corpus and a schedule to a recommendation, and the collator that carries it out."""

from maskov.advisor.advise import advise
from maskov.advisor.collator import MaskScheduleCollator
from maskov.advisor.ground import CurveGround, Ground, LawGround
from maskov.advisor.result import Advice, Fix, Standing

__all__ = ["Advice", "CurveGround", "Fix", "Ground", "LawGround", "MaskScheduleCollator", "Standing", "advise"]
