"""Options as fields of classes: types, checks, order, and functions that are called with them."""

import inspect
import pickle
import re
from dataclasses import FrozenInstanceError, asdict, fields, is_dataclass
from dataclasses import replace as dataclass_replace

import pytest

import tropalign as ta
from tropalign.errors import UsageError
from tropalign.options.called import called_with
from tropalign.options.option import (
    AMOUNT,
    BITS,
    DECIMAL,
    E_VALUE,
    FRACTION,
    P_VALUE,
    POSITIVE,
    Options,
    argument,
    but,
    grouped,
    number,
    option,
    whole,
)
from tropalign.pairwise.api import PairArguments


class Shape(Options, group="shape"):
    sides: int = option(default=3, kind=whole(3), help="how many sides")
    colour: str = option(default="red", choices=("red", "blue"), help="its colour")


class Size(Options, group="size"):
    width: float = option(default=1.0, kind=POSITIVE, help="how wide")
    filled: bool = option(default=False, help="whether it is filled")


class Figure(Shape, Size):
    name: str = argument(kw_only=False)
    sides: int = but(Shape, "sides", default=4, help="how many sides (default: 4)")

    def settle(self):
        self.check_choices()
        self.set("width", float(self.width))


class Pair(Options):
    first: str = argument(kw_only=False)
    second: str = argument(kw_only=False)


def test_fields_have_their_values():
    figure = Figure("square", width=2)
    assert (figure.name, figure.sides, figure.colour, figure.width, figure.filled) == ("square", 4, "red", 2.0, False)
    assert figure.replaced(sides=5).sides == 5 and figure.sides == 4
    assert figure.shared_with(Shape) == {"sides": 4, "colour": "red"}


def test_options_of_bases_come_in_their_order():
    assert list(Figure.declared()) == ["sides", "colour", "width", "filled", "name"]
    assert {title: [one.name for one in found] for title, found in grouped(Figure.declared().values()).items()} == {
        "": ["name"],
        "shape": ["sides", "colour"],
        "size": ["width", "filled"],
    }
    assert Figure.declared()["sides"].help == "how many sides (default: 4)" and Shape.declared()["sides"].default == 3

    class Turned(Figure, arranged=(Size, Shape)):
        pass

    assert list(Turned.declared()) == ["width", "filled", "sides", "colour", "name"]


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: Figure(), "Figure missing 1 required argument: 'name'"),
        (lambda: Pair(), "Pair missing 2 required arguments: 'first' and 'second'"),
        (lambda: Figure("a", corners=3), "Figure got an unexpected keyword argument 'corners'"),
        (lambda: Figure("a", "b"), "Figure takes 1 positional argument but 2 were given"),
        (lambda: Figure("a", name="b"), "Figure got multiple values for argument 'name'"),
        (lambda: option(default=None, help="where"), "declare the allowed values, by a kind or by choices: where"),
    ],
)
def test_wrong_calls_are_type_errors(call, sentence):
    with pytest.raises(TypeError) as caught:
        call()
    assert str(caught.value) == sentence


@pytest.mark.parametrize("value", ["green", None, 3])
def test_a_word_that_is_no_choice_is_refused(value):
    with pytest.raises(UsageError, match=f"colour {value!r} is not one of red, blue"):
        Figure("a", colour=value)


def test_they_are_frozen_equal_hashable_and_pickled():
    figure = Figure("a", colour="blue")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'colour'"):
        figure.colour = "red"
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'colour'"):
        del figure.colour
    assert figure == Figure(name="a", colour="blue") != Figure("a") and figure != Shape(colour="blue")
    assert len({figure, Figure("a", colour="blue"), Figure("b")}) == 2
    assert pickle.loads(pickle.dumps(figure)) == figure
    assert repr(figure) == "Figure(sides=4, colour='blue', width=1.0, filled=False, name='a')"


def test_dataclasses_know_the_fields():
    figure = Figure("a", colour="blue")
    assert is_dataclass(Figure) and [one.name for one in fields(figure)] == [
        "name", "sides", "colour", "width", "filled"
    ]  # fmt: skip
    assert asdict(figure) == figure.values()
    assert dataclass_replace(figure, width=2) == figure.replaced(width=2.0)
    with pytest.raises(UsageError, match="not one of red, blue"):
        dataclass_replace(figure, colour="green")
    assert dataclass_replace(ta.SearchOptions(), f1=0.5) == ta.SearchOptions(f1=0.5)


def test_a_function_is_called_with_the_fields():
    @called_with(Figure)
    def drawn(call):
        """Draws a figure.

        Returns
        -------
        str
        """
        return f"{call.colour} {call.name}"

    assert drawn("circle", colour="blue") == "blue circle" and drawn(name="line") == "red line"
    with pytest.raises(TypeError, match=r"^drawn\(\) got an unexpected keyword argument 'size'"):
        drawn("circle", size=3)
    signature = inspect.signature(drawn)
    assert [one.name for one in signature.parameters.values()] == ["name", "sides", "colour", "width", "filled"]
    assert signature.parameters["name"].kind is inspect.Parameter.POSITIONAL_OR_KEYWORD
    assert signature.parameters["sides"].default == 4
    lines = inspect.cleandoc(drawn.__doc__).split("\n")
    assert lines[:4] == ["Draws a figure.", "", "Parameters", "----------"]
    assert 'colour : {"red", "blue"}' in lines and "    Its colour." in lines and lines[-3:] == [
        "Returns", "-------", "str"
    ]  # fmt: skip


def test_align_is_written_out_as_declared():
    """Its signature is its own, for speed: names, defaults and types are those of the other functions."""
    own = inspect.signature(ta.align).parameters
    named = {name: (one.default, one.annotation) for name, one in own.items() if name not in ("query", "target")}
    of_many = inspect.signature(ta.align_many).parameters
    assert named == {name: (of_many[name].default, of_many[name].annotation) for name in PairArguments.declared()}


@pytest.mark.parametrize(
    ("kind", "word", "value"),
    [
        (whole(), " 7 ", 7),
        (DECIMAL, "2.0", 2),
        (DECIMAL, "-.5", -0.5),
        (FRACTION, "1", 1.0),
        (BITS, "-1e3", -1000.0),
        (POSITIVE, "1e-9", 1e-9),
        (AMOUNT, "0", 0.0),
        (P_VALUE, "2", 2.0),
    ],
)
def test_words_become_values(kind, word, value):
    assert kind.parse(word) == value and type(kind.parse(word)) is type(value) and kind.takes(word)


@pytest.mark.parametrize(
    ("kind", "word", "sentence"),
    [
        (whole(), "1.5", "'1.5' is not a whole number"),
        (whole(1), "0", "0 is below 1"),
        (whole(1, 3), "4", "4 is above 3"),
        (DECIMAL, "1e3", "'1e3' is not a number"),
        (DECIMAL, "-3000000000", "-3000000000 is below -2147483647"),
        (FRACTION, "nan", "'nan' is not a fraction between 0 and 1"),
        (BITS, "inf", "'inf' is not a number"),
        (POSITIVE, "0", "'0' is not above 0: give a number from 1e-09 to 1e+09"),
        (POSITIVE, "1e-300", "'1e-300' is below 1e-09: give a number from 1e-09 to 1e+09"),
        (AMOUNT, "-1", "'-1' is below 0: give a number from 0 to 1e+09"),
        (AMOUNT, "1e308", "'1e308' is above 1e+09: give a number from 0 to 1e+09"),
        (P_VALUE, "-1", "'-1' is below 0: give a number from 0 to 1e+09"),
        (E_VALUE, "1e-306", "'1e-306' is below 1e-300: give a number from 1e-300 to 1e+300"),
        (BITS, "-1e10", "'-1e10' is below -1e+09: give a number from -1e+09 to 1e+09"),
    ],
)
def test_other_words_are_refused(kind, word, sentence):
    assert not kind.takes(word)
    with pytest.raises(ValueError, match=f"^{re.escape(sentence)}$"):
        kind.parse(word)


class Ranged(Options):
    weight: float = option(default=1.0, kind=number(0.5, 2), help="how heavy")


@pytest.mark.parametrize("weight", [0.4, 2.1, -1, 1e308, float("inf"), float("-inf"), float("nan"), 10**400])
def test_a_number_beyond_its_range_is_refused_in_python(weight):
    with pytest.raises(UsageError, match=r"^weight .* is not a number from 0\.5 to 2$"):
        Ranged(weight=weight)
    assert Ranged(weight=2).weight == 2
