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
    return {"limit": 2 * options["bound"] + 1}


def speaks(options, version):
    return {"name": options["label"].upper()}


def asks(options, version):
    if "bound" in options:
        options["limit"] = options.pop("bound")
    options.pop("other", None)
    return {("name" if n == "label" else n): v for n, v in options.items()}


def copied(options, version):
    return dict(options)


def of_the_first(options, version):
    return {"limit": options["bound"]} if version == 1 else options


@pytest.mark.parametrize("upgrade", [renames, scales, speaks, asks, of_the_first, copied], ids=lambda f: f.__name__)
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


@pytest.mark.parametrize(("upgrade", "loses"), [(renames, False), (asks, False), (scales, True), (speaks, True), (of_the_first, False)],
                         ids=lambda f: getattr(f, "__name__", str(f)))
def test_options_that_all_versions_have(upgrade, loses):
    def run():
        return upgrade_fits(upgrade, 3 if upgrade is of_the_first else 2, {"limit": 3.0, "size": 4}, lambda made: [], {"size": 4})
    if loses:
        with pytest.raises(CheckFailure, match="upgrade loses the option 'size', which files of version 1 have"):
            run()
    else:
        run()
