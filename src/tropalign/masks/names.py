"""Names of the ways to mask sequences, for what starts light."""

from typing import Literal

MethodName = Literal["seg", "dust", "tantan", "lower"]
