"""Topics: which of them the chains of a trace keep coming back to, against random passages and shuffled topics."""

from maskov.topics.anchors import as_anchors, bundled_anchors, read_topics
from maskov.topics.calibrate import Threshold, threshold, thresholds
from maskov.topics.null import benjamini_hochberg, holm, p_above, passage_share, read_prior, reference_share
from maskov.topics.recurrence import topic_recurrence
from maskov.topics.result import StartMemory, TimeCourse, TopicCell, TopicRecurrence, TopicRow, TopicVerdict
from maskov.topics.score import AnchorMargin, TopicScorer, margins
from maskov.topics.shares import clustered_share, difference
from maskov.topics.visits import return_median, returns, visit_counts

__all__ = [
    "AnchorMargin",
    "StartMemory",
    "Threshold",
    "TimeCourse",
    "TopicCell",
    "TopicRecurrence",
    "TopicRow",
    "TopicScorer",
    "TopicVerdict",
    "as_anchors",
    "benjamini_hochberg",
    "bundled_anchors",
    "clustered_share",
    "difference",
    "holm",
    "margins",
    "p_above",
    "passage_share",
    "read_prior",
    "read_topics",
    "reference_share",
    "return_median",
    "returns",
    "threshold",
    "thresholds",
    "topic_recurrence",
    "visit_counts",
]
