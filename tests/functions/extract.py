#!/usr/bin/env python3
"""Extracts formulas and the values that Excel calculated for them from workbooks.

Usage: extract.py FOLDER > core/functions/tests/facts.txt

FOLDER contains .xlsx files that Excel saved, named CATEGORY__NAME.xlsx. Requires openpyxl:
    python3 -m venv /tmp/venv && /tmp/venv/bin/pip install openpyxl

The output has one line for each cell, with fields separated by tabs:
    @workbook NAME
    @sheet NAME
    @name NAME FORMULA          a defined name
    @hidden ROW ROW ...         hidden rows of the sheet
    ADDRESS VALUE               a constant, or a cell of a spilled array
    ADDRESS VALUE FORMULA       a formula with implicit intersection
    ADDRESS VALUE FORMULA AREA  an array formula, whose results fill AREA
A value is a number, TRUE, FALSE, an error value, or a text after a double quote. \\t, \\n, \\r and \\\\ are escapes.
Number formats are left out, except for the cells of workbooks that use CELL:
    %ADDRESS FORMAT
"""

import pathlib
import sys

import openpyxl
from openpyxl.worksheet import _reader
from openpyxl.worksheet.formula import ArrayFormula

# One file stores the error values of formulas as texts.
ERRORS = {"#NULL!", "#DIV/0!", "#VALUE!", "#REF!", "#NAME?", "#NUM!", "#N/A"}
ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r"})


def read_numbers_of_dates_as_numbers():
    """openpyxl converts numbers with a date format to dates, which loses digits."""
    original = _reader.WorkSheetParser.__init__

    def init(self, *args, **kwargs):
        original(self, *args, **kwargs)
        self.date_formats = set()
        self.timedelta_formats = set()

    _reader.WorkSheetParser.__init__ = init


def escaped(text):
    return text.translate(ESCAPES)


def encoded(cell, formula):
    value = cell.value
    is_formula = formula is not None
    makes_text = is_formula and (formula.startswith('="') or "VALUETOTEXT" in formula)
    if value is None:
        return '"' if is_formula else None
    if isinstance(value, bool):
        return "TRUE" if value else "FALSE"
    if isinstance(value, (int, float)):
        return repr(value)
    if cell.data_type == "e" or (is_formula and not makes_text and value in ERRORS):
        return value
    return '"' + escaped(str(value))


def formula_fields(cell):
    if cell.data_type != "f":
        return []
    if isinstance(cell.value, ArrayFormula):
        return [escaped(cell.value.text), cell.value.ref]
    return [escaped(str(cell.value))]


def sheet_lines(formulas, values):
    uses_cell = any("CELL(" in str(cell.value) for row in formulas.iter_rows() for cell in row)
    yield f"@sheet\t{escaped(formulas.title)}"
    hidden = [str(row) for row, dimension in sorted(formulas.row_dimensions.items()) if dimension.hidden]
    if hidden:
        yield "\t".join(["@hidden", *hidden])
    for row in formulas.iter_rows():
        for cell in row:
            fields = formula_fields(cell)
            value = encoded(values[cell.coordinate], fields[0] if fields else None)
            if value is not None:
                yield "\t".join([cell.coordinate, value, *fields])
            if uses_cell and cell.number_format != "General":
                yield f"%{cell.coordinate}\t{cell.number_format}"


def workbook_lines(path):
    formulas = openpyxl.load_workbook(path)
    values = openpyxl.load_workbook(path, data_only=True)
    yield f"@workbook\t{path.stem.replace('__', '/', 1)}"
    for name, definition in formulas.defined_names.items():
        yield f"@name\t{name}\t={definition.attr_text}"
    for sheet in formulas.worksheets:
        yield from sheet_lines(sheet, values[sheet.title])


def main():
    read_numbers_of_dates_as_numbers()
    for path in sorted(pathlib.Path(sys.argv[1]).glob("*.xlsx")):
        for line in workbook_lines(path):
            print(line)


main()
