"""Classes of data behave as those of `dataclasses`, and make nothing before it is needed."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
import re
import subprocess
import sys
import threading
from dataclasses import FrozenInstanceError, field
from functools import partial
from pathlib import Path
from typing import ClassVar

import pytest

import tropalign
from tropalign.structs import dataclass

#: Each is declared twice, by Python's own and by ours.
HOW = [
    {},
    {"frozen": True},
    {"frozen": True, "eq": False},
    {"frozen": True, "eq": False, "repr": False},
    {"eq": False, "repr": False},
    {"frozen": True, "kw_only": True},
]


def declared(decorate, **how):
    @decorate(**how)
    class Site:
        """A place."""

        name: str
        length: int = 3
        tags: list[str] = field(default_factory=list)
        secret: str = field(default="s", repr=False)
        kind: ClassVar[str] = "site"

        def __post_init__(self):
            self.__dict__["twice"] = 2 * self.length

    @decorate(**how)
    class Gene(Site):
        """A place that is read."""

        strand: int = 1

    return Site, Gene


@pytest.fixture(params=HOW, ids=str)
def both(request):
    return declared(dataclasses.dataclass, **request.param), declared(dataclass, **request.param)


def outcome(function):
    """What a call gives, or how it fails."""
    try:
        return function()
    except (TypeError, AttributeError) as error:
        return type(error), re.sub(r"^declared.<locals>\.", "", str(error))


def test_objects_are_made_as_by_python(both):
    made = []
    for site, gene in both:
        calls = [partial(site, "a"), partial(site, name="a", length=4), partial(gene, "b", strand=-1), gene]
        calls += [partial(site, "a", 1, ["x"], "t"), partial(site, "a", colour=1), partial(site, "a", name="b")]
        made.append([getattr(outcome(call), "__dict__", outcome(call)) for call in calls])
    assert made[0] == made[1]
    first, second = (ours := both[1][0])(name="a"), ours(name="b")
    assert first.tags is not second.tags and ours.kind == "site" and ours.secret == "s" and not hasattr(ours, "tags")


def test_methods_do_what_those_of_python_do(both):
    found = []
    for site, gene in both:
        one, same, other = site(name="a", tags=()), site(name="a", tags=()), gene(name="a", tags=())
        # printed without the address of what has no text of its own
        found.append(
            {
                "repr": [re.sub(" at 0x.*", "", repr(each)) for each in (one, other)],
                "equal": [one == one, one == same, one == other, one == site(name="b"), one == 3, one != same],
                "hash": outcome(lambda one=one, same=same: hash(one) == hash(same)),
                "set": outcome(partial(setattr, one, "length", 3)),
                "delete": outcome(partial(delattr, same, "length")),
                "match": (site.__match_args__, gene.__match_args__),
            }
        )
    assert found[0] == found[1]


def test_dataclasses_knows_them(both):
    found = []
    for _, gene in both:
        one = gene(name="a", tags=["x"])
        assert dataclasses.is_dataclass(gene)
        found.append(
            {
                "fields": [(each.name, each.type, each.default, each.repr) for each in dataclasses.fields(one)],
                "dict": dataclasses.asdict(one),
                "replaced": vars(dataclasses.replace(one, length=9)),
                "signature": str(inspect.signature(gene)),
                "copied": vars(copy.deepcopy(one)),
                "frozen": gene.__dataclass_params__.frozen,
            }
        )
    assert found[0] == found[1]


def test_users_may_inherit():
    @dataclasses.dataclass(frozen=True)
    class Named(declared(dataclass, frozen=True)[1]):
        note: str = ""

    assert repr(Named("a", note="x")).endswith("Named(name='a', length=3, tags=[], strand=1, note='x')")
    with pytest.raises(FrozenInstanceError):
        Named("a").note = "y"


@dataclass(frozen=True)
class Kept:
    """A class that pickles find by its name."""

    number: int


def test_pickles():
    assert pickle.loads(pickle.dumps(Kept(3))) == Kept(3)


@dataclass(frozen=True)
class Equal:
    """A class that says itself what is equal."""

    number: int

    def __eq__(self, other):
        return True


def test_what_a_class_says_itself_stands():
    assert Equal(1) == Equal(2) and hash(Equal(1)) == hash(Equal(1))

    @dataclass(frozen=True)
    class Empty:
        """Nothing."""

    assert Empty() == Empty() and repr(Empty()).endswith("Empty()")


def test_threads_that_make_the_first_object():
    for _ in range(50):
        site, _ = declared(dataclass, frozen=True)
        made = []
        together = threading.Barrier(4)

        def make(site=site, made=made, together=together):
            together.wait()
            made.append(site("a", 7))

        threads = [threading.Thread(target=make) for _ in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [vars(each) for each in made] == [vars(site("a", 7))] * 4


def test_nothing_is_made_before_it_is_needed():
    code = (
        "import sys; from tropalign.structs import dataclass\n"
        "@dataclass(frozen=True)\n"
        "class Site:\n    name: str\n    length: int = 3\n"
        "made = type(vars(Site)['__init__']).__name__\n"
        "print(Site('a') == Site('a'), Site('a'), made, [m for m in ('dataclasses', 'inspect') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stdout == "True Site(name='a', length=3) _Later []\n", done.stderr


def test_all_classes_of_data_are_of_this_kind():
    """Those with slots aside, which Python has to make anew."""
    for path in Path(tropalign.__file__).parent.rglob("*.py"):
        text = path.read_text()
        if re.search(r"from dataclasses import .*\bdataclass\b", text) and path.name != "structs.py":
            assert all("slots=True" in line for line in re.findall("@dataclass.*", text)), path
