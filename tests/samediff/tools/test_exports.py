"""The checked-in import lists of packages follow their modules."""
from __future__ import annotations

import pytest

from dl4py.samediff.tools import exports


@pytest.mark.parametrize("package", exports.PACKAGES)
def test_lists_are_up_to_date(package):
    assert (exports.ROOT / package / "__init__.py").read_text(encoding="utf-8") == exports.generate(package), "run .ci/generate"


@pytest.fixture
def package(tmp_path, monkeypatch):
    """A package of two modules, one of them in a room."""
    monkeypatch.setattr(exports, "ROOT", tmp_path)
    room = tmp_path / "shop" / "room"
    room.mkdir(parents=True)
    (tmp_path / "shop" / "__init__.py").write_text('"""A shop."""\n' + exports.MARK + "from .gone import Gone\n")
    (tmp_path / "shop" / "tools.py").write_text('__all__ = ["Saw", "Axe"]\n')
    (room / "chairs.py").write_text('__all__ = ["Chair"]\nhidden = 1\n')
    (room / "inner.py").write_text("nothing = 1\n")
    return "shop"


def test_what_modules_name_is_listed_and_the_head_stays(package):
    assert exports.generate(package) == (
        '"""A shop."""\n' + exports.MARK + 'from .room.chairs import Chair\nfrom .tools import Axe, Saw\n\n'
        '__all__ = [\n    "Axe", "Chair", "Saw",\n]\n')


def test_long_lists_are_wrapped(package):
    (exports.ROOT / "shop" / "tools.py").write_text(f"__all__ = {[f'Name{i}' for i in range(99)]}\n")
    assert max(map(len, exports.generate(package).splitlines())) <= exports.WIDTH


def test_a_name_of_two_modules_is_an_error(package):
    (exports.ROOT / "shop" / "tools.py").write_text('__all__ = ["Chair"]\n')
    with pytest.raises(ValueError, match="Chair"):
        exports.generate(package)
