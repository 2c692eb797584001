"""Evaluation: what a budget costs and saves on questions of your own. Start with `evaluate`."""

from ctxcompress.apps.evaluation.answering import Answered, Answers, AnswerSummary, aanswer, answer
from ctxcompress.apps.evaluation.citations import respond
from ctxcompress.apps.evaluation.evaluating import BUDGETS, evaluate
from ctxcompress.apps.evaluation.evaluation_failures import xrays
from ctxcompress.apps.evaluation.evaluation_page import page_of
from ctxcompress.apps.evaluation.evaluation_report import Asked, Comparison, Failure, Report, Row, Summary
from ctxcompress.apps.evaluation.guarantee import Guarantee, guaranteed_budget
from ctxcompress.apps.evaluation.intervals import Estimate
from ctxcompress.apps.evaluation.methods import Method
from ctxcompress.apps.evaluation.question_forms import read_questions
from ctxcompress.apps.evaluation.questions import (
    Question,
    Retrieve,
    from_folder,
    from_langchain,
    from_llamaindex,
    from_texts,
    questions_from_headings,
)

__all__ = [
    "BUDGETS",
    "AnswerSummary",
    "Answered",
    "Answers",
    "Asked",
    "Comparison",
    "Estimate",
    "Failure",
    "Guarantee",
    "Method",
    "Question",
    "Report",
    "Retrieve",
    "Row",
    "Summary",
    "aanswer",
    "answer",
    "evaluate",
    "from_folder",
    "from_langchain",
    "from_llamaindex",
    "from_texts",
    "guaranteed_budget",
    "page_of",
    "questions_from_headings",
    "read_questions",
    "respond",
    "xrays",
]
