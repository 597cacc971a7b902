"""What the client and the server use of this folder beside `verbs.py`."""

from tropalign.submissions.command_line import submission_of
from tropalign.submissions.file_names import sanitised
from tropalign.submissions.option_values import FieldError
from tropalign.submissions.plan import Output, Resources, foretells, link_names, outputs_of, planned
from tropalign.submissions.request import BUILD, FIELDS, InputItem, Submission

__all__ = [
    "BUILD",
    "FIELDS",
    "FieldError",
    "InputItem",
    "Output",
    "Resources",
    "Submission",
    "foretells",
    "link_names",
    "outputs_of",
    "planned",
    "sanitised",
    "submission_of",
]
