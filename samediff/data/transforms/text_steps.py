"""Steps on texts and categories."""
from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from ...base.java.java_enum import JavaEnum
from ...base.java_names import (
    AppendStringColumnTransformNames,
    CategoricalToIntegerTransformNames,
    CategoricalToOneHotTransformNames,
    ChangeCaseStringTransformNames,
    ConcatenateStringColumnsNames,
    FirstDigitTransformNames,
    IntegerToCategoricalTransformNames,
    IntegerToOneHotTransformNames,
    MapAllStringsExceptListTransformNames,
    RemoveWhiteSpaceTransformNames,
    ReplaceEmptyStringTransformNames,
    ReplaceStringTransformNames,
    StringMapTransformNames,
    StringToCategoricalTransformNames,
)
from ...configuration.declaring import Convertible, configuration, field
from ...errors import FileFormatError, did_you_mean
from ...text.java_regex import replace_all
from ..records.writables import object_array
from .frames import listed, numbers, texts
from .meta_data import CategoricalMetaData, ColumnMetaData, IntegerMetaData, StringMetaData, of_kind
from .schema import Schema
from .steps import ColumnTransform, NewColumns

__all__ = [
    "AppendStringColumnTransform", "CategoricalToIntegerTransform", "CategoricalToOneHotTransform", "ChangeCaseStringTransform",
    "ConcatenateStringColumns", "FirstDigitTransform", "IntegerToCategoricalTransform", "IntegerToOneHotTransform",
    "MapAllStringsExceptListTransform", "RemoveWhiteSpaceTransform", "ReplaceEmptyStringTransform", "ReplaceStringTransform",
    "StringMapTransform", "StringToCategoricalTransform",
]


@configuration()
class _TextTransform(ColumnTransform):
    """Base of steps that change text."""

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return StringMetaData(column.name)

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        return object_array(self.changed_text(text) for text in texts(frame, column))

    def changed_text(self, text: str) -> str:
        """The new text."""
        raise NotImplementedError


@configuration("org.datavec.api.transform.transform.string.AppendStringColumnTransform")
class AppendStringColumnTransform(_TextTransform, AppendStringColumnTransformNames):
    """Adds text to text.

    Parameters
    ----------
    to_append : str
        What is added.
    """

    to_append: str

    def changed_text(self, text: str) -> str:
        return text + self.to_append


class LetterCase(JavaEnum):
    """Small or capital letters."""

    LOWER = "LOWER"
    UPPER = "UPPER"


@configuration("org.datavec.api.transform.transform.string.ChangeCaseStringTransform")
class ChangeCaseStringTransform(_TextTransform, ChangeCaseStringTransformNames):
    """Small or capital letters.

    Parameters
    ----------
    case_type : str, default LOWER
        Which of them.
    """

    CaseType: ClassVar[type[LetterCase]] = LetterCase
    case_type: Convertible[LetterCase] = LetterCase.LOWER

    def changed_text(self, text: str) -> str:
        return text.lower() if self.case_type is LetterCase.LOWER else text.upper()


@configuration("org.datavec.api.transform.transform.string.RemoveWhiteSpaceTransform")
class RemoveWhiteSpaceTransform(_TextTransform, RemoveWhiteSpaceTransformNames):
    """Text without blanks and line ends."""

    def changed_text(self, text: str) -> str:
        return replace_all(text, r"\s", "")


@configuration("org.datavec.api.transform.transform.string.ReplaceEmptyStringTransform")
class ReplaceEmptyStringTransform(_TextTransform, ReplaceEmptyStringTransformNames):
    """A text where there is none.

    Parameters
    ----------
    value : str
        The text.
    """

    value: str

    def changed_text(self, text: str) -> str:
        return text or self.value


@configuration("org.datavec.api.transform.transform.string.StringMapTransform")
class StringMapTransform(_TextTransform, StringMapTransformNames):
    """Other texts for some texts.

    Parameters
    ----------
    mapping : dict
        The new text of each; others stay.
    """

    mapping: Convertible[dict[str, str]] = field(json="map", kw_only=False)

    def changed_text(self, text: str) -> str:
        return self.mapping.get(text, text)


@configuration("org.datavec.api.transform.transform.string.MapAllStringsExceptListTransform")
class MapAllStringsExceptListTransform(_TextTransform, MapAllStringsExceptListTransformNames):
    """One text for all but some texts.

    Parameters
    ----------
    new_value : str
        The text.
    exceptions : tuple of str
        What stays.
    """

    new_value: str
    exceptions: Convertible[tuple[str, ...]]

    def changed_text(self, text: str) -> str:
        return text if text in self.exceptions else self.new_value


@configuration("org.datavec.api.transform.transform.string.ReplaceStringTransform")
class ReplaceStringTransform(_TextTransform, ReplaceStringTransformNames):
    """Replaces parts of texts.

    Parameters
    ----------
    mapping : dict
        Regular expressions of Java's, and what stands in place of what matches: ``$1`` is a group, ``\\$`` the character.
    """

    mapping: Convertible[dict[str, str]] = field(json="map", kw_only=False)

    def changed_text(self, text: str) -> str:
        for pattern, new in self.mapping.items():
            text = replace_all(text, pattern, new)
        return text


@configuration("org.datavec.api.transform.transform.string.ConcatenateStringColumns")
class ConcatenateStringColumns(NewColumns, ConcatenateStringColumnsNames):
    """A new column of the texts of others.

    Parameters
    ----------
    new_column_name : str
        Its name.
    delimiter : str
        What stands between them.
    columns_to_concatenate : tuple of str
        The columns.
    """

    many = "columns_to_concatenate"
    new_column_name: str
    delimiter: str
    columns_to_concatenate: Convertible[tuple[str, ...]]

    def new_columns(self, schema: Schema) -> list[ColumnMetaData]:
        schema.get_index_of_columns(*self.columns_to_concatenate)
        return [StringMetaData(self.new_column_name)]

    def new_values(self, frame: Any, schema: Schema) -> list[Any]:
        parts = [texts(frame, schema.get_meta_data(column)) for column in self.columns_to_concatenate]
        return [object_array(self.delimiter.join(row) for row in zip(*parts))]


@configuration("org.datavec.api.transform.transform.categorical.StringToCategoricalTransform")
class StringToCategoricalTransform(ColumnTransform, StringToCategoricalTransformNames):
    """Texts are names of categories.

    Parameters
    ----------
    state_names : tuple of str
        The names.
    """

    state_names: Convertible[tuple[str, ...]]

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return super()._bind((args[0], args[1:]) if len(args) > 1 and isinstance(args[1], str) else args, kwargs)

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return CategoricalMetaData(column.name, self.state_names)

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        return object_array(None if value is None else column.text(value) for value in listed(frame, self.column_name))


def places(frame: Any, column: CategoricalMetaData) -> Any:
    """The number of the category of each value.

    Raises
    ------
    FileFormatError
        A value that is no category of the column.
    """
    known = {name: k for k, name in enumerate(column.state_names)}
    found = np.empty(len(frame), np.int64)
    for row, text in enumerate(texts(frame, column)):
        if text not in known:
            raise FileFormatError(f"column {column.name!r}, row {row}: {text!r} is not one of the categories {list(known)}"
                                  f"{did_you_mean(text, known)}")
        found[row] = known[text]
    return found


@configuration("org.datavec.api.transform.transform.categorical.CategoricalToIntegerTransform")
class CategoricalToIntegerTransform(ColumnTransform, CategoricalToIntegerTransformNames):
    """The numbers of categories."""

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return IntegerMetaData(column.name, 0, len(of_kind(column, CategoricalMetaData, self).state_names) - 1)

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        return places(frame, of_kind(column, CategoricalMetaData, self))


@configuration("org.datavec.api.transform.transform.categorical.CategoricalToOneHotTransform")
class CategoricalToOneHotTransform(NewColumns, CategoricalToOneHotTransformNames):
    """A column ``name[category]`` of 0 and 1 for each category.

    Parameters
    ----------
    column_name : str
        The column.
    """

    column_name: str

    def place(self, schema: Schema) -> tuple[int, int]:
        at = schema.get_index_of_column(self.column_name)
        return at, at + 1

    def new_columns(self, schema: Schema) -> list[ColumnMetaData]:
        column = of_kind(schema.get_meta_data(self.column_name), CategoricalMetaData, self)
        return [IntegerMetaData(f"{column.name}[{state}]", 0, 1) for state in column.state_names]

    def new_values(self, frame: Any, schema: Schema) -> list[Any]:
        found = places(frame, of_kind(schema.get_meta_data(self.column_name), CategoricalMetaData, self))
        return [(found == k).astype(np.int64) for k in range(len(self.new_columns(schema)))]


@configuration("org.datavec.api.transform.transform.integer.IntegerToOneHotTransform")
class IntegerToOneHotTransform(NewColumns, IntegerToOneHotTransformNames):
    """A column ``name[number]`` of 0 and 1 for each number.

    Parameters
    ----------
    column_name : str
        The column.
    min_value, max_value : int
        The first and the last number.
    """

    column_name: str
    min_value: int
    max_value: int

    def place(self, schema: Schema) -> tuple[int, int]:
        at = schema.get_index_of_column(self.column_name)
        return at, at + 1

    def new_columns(self, schema: Schema) -> list[ColumnMetaData]:
        of_kind(schema.get_meta_data(self.column_name), IntegerMetaData, self)
        return [IntegerMetaData(f"{self.column_name}[{k}]", 0, 1) for k in range(self.min_value, self.max_value + 1)]

    def new_values(self, frame: Any, schema: Schema) -> list[Any]:
        found = numbers(frame, self.column_name, whole=True)
        wrong = np.flatnonzero((found < self.min_value) | (found > self.max_value))
        if wrong.size:
            raise FileFormatError(f"column {self.column_name!r}, row {wrong[0]}: {found[wrong[0]]} does not lie in {self.min_value} … "
                                  f"{self.max_value}")
        return [(found == k).astype(np.int64) for k in range(self.min_value, self.max_value + 1)]


@configuration("org.datavec.api.transform.transform.categorical.IntegerToCategoricalTransform")
class IntegerToCategoricalTransform(ColumnTransform, IntegerToCategoricalTransformNames):
    """Names of categories for numbers.

    Parameters
    ----------
    names : dict or sequence
        The name of each number; a sequence counts from 0.
    """

    names: Convertible[dict[int, str]] = field(json="map", kw_only=False)

    @classmethod
    def _bind(cls, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        values = super()._bind(args, kwargs)
        if isinstance(values.get("names"), (list, tuple)):
            values["names"] = dict(enumerate(values["names"]))
        return values

    def column_after(self, column: ColumnMetaData) -> ColumnMetaData:
        return CategoricalMetaData(column.name, tuple(self.names[k] for k in sorted(self.names)))

    def values(self, frame: Any, column: ColumnMetaData) -> Any:
        found = numbers(frame, self.column_name, whole=True).tolist()
        wrong = next((row for row, k in enumerate(found) if k not in self.names), None)
        if wrong is not None:
            raise FileFormatError(f"column {self.column_name!r}, row {wrong}: {found[wrong]} has no category; known numbers: "
                                  f"{sorted(self.names)}")
        return object_array(self.names[k] for k in found)


class FirstDigitMode(JavaEnum):
    """Texts that begin with no digit: refused, or a category of their own."""

    EXCEPTION_ON_INVALID = "EXCEPTION_ON_INVALID"
    INCLUDE_OTHER_CATEGORY = "INCLUDE_OTHER_CATEGORY"


@configuration("org.datavec.api.transform.transform.categorical.FirstDigitTransform")
class FirstDigitTransform(NewColumns, FirstDigitTransformNames):
    """A category for the first digit of values, for Benford's law.

    Parameters
    ----------
    input_column, output_column : str
        The column of the values, and that of the digits: the same one, or a new one.
    mode : str, default "INCLUDE_OTHER_CATEGORY"
        What begins with no digit is ``"Other"``, or refused ("EXCEPTION_ON_INVALID").
    """

    Mode: ClassVar[type[FirstDigitMode]] = FirstDigitMode
    input_column: str
    output_column: str
    mode: Convertible[FirstDigitMode] = FirstDigitMode.INCLUDE_OTHER_CATEGORY

    def place(self, schema: Schema) -> tuple[int, int]:
        at = schema.get_index_of_column(self.input_column)
        return (at, at + 1) if self.output_column == self.input_column else (at + 1, at + 1)

    def new_columns(self, schema: Schema) -> list[ColumnMetaData]:
        other = ("Other",) if self.mode is FirstDigitMode.INCLUDE_OTHER_CATEGORY else ()
        return [CategoricalMetaData(self.output_column, (*map(str, range(10)), *other))]

    def new_values(self, frame: Any, schema: Schema) -> list[Any]:
        given = texts(frame, schema.get_meta_data(self.input_column))
        first = [text.lstrip("-")[:1] for text in given]
        wrong = next((row for row, digit in enumerate(first) if not digit.isdigit()), None)
        if wrong is not None and self.mode is FirstDigitMode.EXCEPTION_ON_INVALID:
            raise FileFormatError(f"column {self.input_column!r}, row {wrong}: a value that begins with no digit")
        return [object_array(digit if digit.isdigit() else "Other" for digit in first)]
