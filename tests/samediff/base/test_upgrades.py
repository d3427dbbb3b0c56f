"""What an ``upgrade`` makes of options of older versions, which nobody knows here."""
from __future__ import annotations

import pytest

from dl4py.samediff.base.user_code.check_report import CheckFailure
from dl4py.samediff.base.user_code.upgrades import upgrade_fits

TODAY = ("limit", "name")


def fits(upgrade, version=2):
    return upgrade_fits(upgrade, version, {"limit": 3.0, "name": "a"}, lambda made: [n for n in made if n not in TODAY])


def renames(options, version):
    options["limit"] = options.pop("bound")
    return options


def scales(options, version):
    bound = options.pop("bound")
    return {**options, "limit": 2 * bound + 1}


def speaks(options, version):
    options["name"] = options.pop("label").upper()
    return options


def says_all(options, version):
    return {"limit": 2 * options["bound"] + 1, "name": "b"}


def asks(options, version):
    if "bound" in options:
        options["limit"] = options.pop("bound")
    options.pop("other", None)
    return {("name" if n == "label" else n): v for n, v in options.items()}


def copied(options, version):
    return dict(options)


def of_the_first(options, version):
    return {"name": "b", "limit": options["bound"]} if version == 1 else options


@pytest.mark.parametrize("upgrade", [renames, scales, speaks, says_all, asks, of_the_first, copied], ids=lambda f: f.__name__)
def test_right_ones(upgrade):
    assert fits(upgrade) == "of version 1"
    assert fits(upgrade, 3) == "of version 1, 2"


def test_one_that_takes_no_value():
    def refuses(options, version):
        raise KeyError("bound")
    assert fits(refuses).startswith("not tried")


def copies(options, version):
    options["limit"] = options["bound"]
    return options


def misspells(options, version):
    return {"limits": options.get("bound", 1.0)}


def adds_where_there(options, version):
    return {"extra": options["bound"]} if "bound" in options else {}


def of_the_second(options, version):
    return {"bound": 1.0} if version == 2 else {}


@pytest.mark.parametrize(("upgrade", "name"), [(copies, "bound"), (misspells, "limits"), (adds_where_there, "extra"),
                                               (of_the_second, "bound")], ids=lambda f: getattr(f, "__name__", ""))
def test_wrong_ones(upgrade, name):
    with pytest.raises(CheckFailure, match=f"upgrade makes {name!r} too, which is none of today's"):
        fits(upgrade, 3)


def test_one_that_loses_all():
    with pytest.raises(CheckFailure, match="returns no options"):
        fits(lambda options, version: {})


def drops(options, version):
    return {"limit": options["bound"]}


def drops_at_first(options, version):
    return {"limit": options["bound"]} if version == 1 else options


@pytest.mark.parametrize("upgrade", [drops, drops_at_first], ids=lambda f: f.__name__)
def test_ones_that_lose_an_option(upgrade):
    with pytest.raises(CheckFailure, match=r"loses the option 'name', for which files of version 1 .* attributes.setdefault\('name', "):
        fits(upgrade, 3)


def test_what_is_no_option_may_get_lost():
    assert upgrade_fits(drops, 2, {"limit": 3.0, "@class": "it"}, lambda made: [], {"limit": 3.0}) == "of version 1"
