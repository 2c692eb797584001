"""Feedback: which kept text was used, and the thresholds and the budget that would have kept it."""

from ctxcompress.apps.feedback.call_sheet import Used
from ctxcompress.apps.feedback.feedback_log import FeedbackLog, FeedbackRecord
from ctxcompress.apps.feedback.tuned_file import TunedFile, write_tuned
from ctxcompress.apps.feedback.tuning import Curve, Point, Tuning, tune

__all__ = ["Curve", "FeedbackLog", "FeedbackRecord", "Point", "TunedFile", "Tuning", "Used", "tune", "write_tuned"]
