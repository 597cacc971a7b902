"""Names of the masking methods, in a module that is cheap to import."""

from typing import Literal

MethodName = Literal["seg", "dust", "tantan", "lower"]
