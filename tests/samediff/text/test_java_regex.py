"""Regular expressions of Java's."""
from __future__ import annotations

import pytest

from dl4py.samediff.errors import ConfigurationError
from dl4py.samediff.text.java_regex import java_pattern, replace_all, split


@pytest.mark.parametrize(("regex", "text", "whole"), [
    (r"\p{Punct}+", "-!]", True), (r"[\p{Alpha}_]+", "a_b", True), (r"\P{Digit}", "7", False), (r"\p{L}+", "äß", True),
    (r"\P{L}", "ä", False), (r"\w+", "ä", False), (r"\s", "\u2003", False), (r"(?<one>a)\k<one>", "aa", True),
    (r"\Qa.b\E+", "a.bb", True), (r"\Q(", "(", True), (r"a\z", "a", True), (r"\h+", " \t", True), (r"[]a]+", "]a", True),
    (r"[^\]]", "]", False), (r"a++b", "aab", True), (r"\R", "\r\n", True), (r"[\[&]", "[", True)])
def test_expressions(regex, text, whole):
    assert bool(java_pattern(regex).fullmatch(text)) is whole


@pytest.mark.parametrize("regex", ["(", "[a-z&&[b]]", "[a[b]]", r"\p{Nobody}", r"[\P{Digit}]"])
def test_what_is_none(regex):
    with pytest.raises(ConfigurationError, match="regular expression|set of characters|not known"):
        java_pattern(regex)


@pytest.mark.parametrize(("text", "regex", "new", "wanted"), [
    ("a1b2", r"([a-z])(\d)", "$2$1", "1a2b"), ("ab", "(?<x>a)", "<${x}>", "<a>b"), ("a", "a", r"\$\\n", r"$\n"), ("a", "a", r"\n", "n"),
    ("ab", "(a)", "$12", "a2b"), ("b", "(a)?b", "[$1]", "[]"), ("abc", "", "-", "-a-b-c-"), ("$", r"\$", r"\g<0>", "g<0>")])
def test_replacing(text, regex, new, wanted):
    assert replace_all(text, regex, new) == wanted


@pytest.mark.parametrize("new", ["$", "$2", "${x}", "a\\"])
def test_groups_that_are_not_there(new):
    with pytest.raises(ConfigurationError, match="no group"):
        replace_all("a", "(a)", new)


@pytest.mark.parametrize(("text", "regex", "wanted"), [
    ("a,b,,", ",", ["a", "b"]), (",a", ",", ["", "a"]), ("abc", "", ["a", "b", "c"]), ("", ",", [""]), ("a1b", "(1)", ["a", "b"]),
    ("abc", "x", ["abc"]), (",,", ",", [])])
def test_splitting(text, regex, wanted):
    assert split(text, regex) == wanted
