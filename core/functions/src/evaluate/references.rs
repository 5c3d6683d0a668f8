//! Resolves references, names and spilled ranges.

use std::rc::Rc;

use cellar_sheet::a1::CellName;
use cellar_sheet::cell::ErrorCode;

use super::{Evaluator, Scope};
use crate::expression::{CellReference, Coordinate, Operator, Sheets};
use crate::function::function_of_name;
use crate::operand::{Area, Operand, Outcome};
use crate::parse::Formula;
use crate::source::SheetIndex;

fn sorted(mut ends: [u32; 2]) -> [u32; 2] {
    ends.sort_unstable();
    ends
}

impl Evaluator<'_> {
    /// Resolves a reference to areas, one for each sheet.
    pub(crate) fn resolve(&self, reference: &CellReference) -> Outcome<Operand> {
        let (first, last) = self.corners(reference)?;
        let sheets = self.sheets(&reference.sheets)?;
        let areas = sheets.map(|sheet| Area { sheet, first, last }).collect();
        Ok(Operand::Reference(Rc::new(areas)))
    }

    /// Returns the top left and the bottom right cell of a reference.
    fn corners(&self, reference: &CellReference) -> Outcome<(CellName, CellName)> {
        let grid = self.source.grid_size();
        let own = self.context.cell;
        let index = |coordinate: Option<Coordinate>, own: u32, edge: u32| match coordinate {
            Some(coordinate) => coordinate.at(own).ok_or(ErrorCode::Ref),
            None => Ok(edge),
        };
        let rows = [
            index(reference.first_row, own.row, 0)?,
            index(reference.last_row, own.row, grid.rows - 1)?,
        ];
        let columns = [
            index(reference.first_column, own.column, 0)?,
            index(reference.last_column, own.column, grid.columns - 1)?,
        ];
        let ([top, bottom], [left, right]) = (sorted(rows), sorted(columns));
        if bottom >= grid.rows || right >= grid.columns {
            return Err(ErrorCode::Ref.into());
        }
        Ok((CellName { row: top, column: left }, CellName { row: bottom, column: right }))
    }

    pub(super) fn sheets(&self, sheets: &Sheets) -> Outcome<std::ops::RangeInclusive<SheetIndex>> {
        let find = |name: &String| self.source.sheet_index(name).ok_or(ErrorCode::Ref);
        Ok(match sheets {
            Sheets::Own => self.context.sheet..=self.context.sheet,
            Sheets::Named(name) => {
                let sheet = find(name)?;
                sheet..=sheet
            }
            Sheets::Between(first, last) => {
                let (first, last) = (find(first)?, find(last)?);
                first.min(last)..=first.max(last)
            }
        })
    }

    /// Resolves a name to a variable, a parameter, a defined name or a function, in this order.
    pub(crate) fn resolve_name(
        &self,
        name: &str,
        scope: &Scope,
        is_array: bool,
    ) -> Outcome<Operand> {
        let plain = name.strip_prefix("_XLOP.").unwrap_or(name);
        const NAMES_PER_STEP: u64 = 8;
        let (found, compared) = scope.find(plain);
        self.spend(compared / NAMES_PER_STEP)?;
        if let Some(operand) = found {
            if let Operand::Value(value) = operand {
                self.spend_copy(value)?;
            }
            return Ok(operand.clone());
        }
        if let Some(text) = self.source.defined_name(self.context.sheet, plain) {
            let formula = Formula::parse(&text).map_err(|_| ErrorCode::Name)?;
            return self
                .budget
                .nested(|| self.evaluate(formula.expression(), &Scope::default(), is_array));
        }
        function_of_name(plain).map(Operand::Function).ok_or(ErrorCode::Name.into())
    }

    /// Returns the range into which the result of a cell spills.
    pub(super) fn spilled(&self, anchor: &Operand) -> Outcome<Operand> {
        let area = self.only_area(anchor)?;
        let rectangle = self.source.spilled_area(area.sheet, area.first);
        let rectangle = rectangle.ok_or(ErrorCode::Ref)?;
        Ok(Operand::area(Area { sheet: area.sheet, first: rectangle.first, last: rectangle.last }))
    }

    /// Returns the area of a reference. Fails with `#VALUE!` if the operand is not a reference to a
    /// single area.
    pub(crate) fn only_area(&self, operand: &Operand) -> Outcome<Area> {
        match operand {
            Operand::Reference(areas) => match areas.as_slice() {
                [area] => Ok(*area),
                _ => Err(ErrorCode::Value.into()),
            },
            _ => Err(ErrorCode::Value.into()),
        }
    }

    /// Applies implicit intersection, which reduces a reference to the cell in the row or column of
    /// the formula, and an array to its first element.
    pub(crate) fn intersect(&self, operand: Operand) -> Outcome<Operand> {
        match operand {
            Operand::Reference(areas) => match areas.as_slice() {
                [area] => Ok(Operand::area(self.intersected_cell(*area)?)),
                _ => Err(ErrorCode::Value.into()),
            },
            Operand::Array(matrix) => Ok(Operand::Value(matrix.get(0, 0).clone())),
            other => Ok(other),
        }
    }

    fn intersected_cell(&self, area: Area) -> Outcome<Area> {
        if area.is_cell() {
            return Ok(area);
        }
        let own = self.context.cell;
        let has_row = (area.first.row..=area.last.row).contains(&own.row);
        let has_column = (area.first.column..=area.last.column).contains(&own.column);
        if area.columns() == 1 && has_row {
            return Ok(Area::cell(area.sheet, own.row, area.first.column));
        }
        if area.rows() == 1 && has_column {
            return Ok(Area::cell(area.sheet, area.first.row, own.column));
        }
        Err(ErrorCode::Value.into())
    }

    /// Evaluates the range operator (`:`), the union operator (`,`) or the intersection operator (a
    /// space).
    pub(super) fn combine_references(
        &self,
        operator: Operator,
        left: &Operand,
        right: &Operand,
    ) -> Outcome<Operand> {
        let left = self.areas(left)?;
        let right = self.areas(right)?;
        let areas = match operator {
            Operator::Union => left.iter().chain(right.iter()).copied().collect(),
            Operator::Intersection => {
                let pairs =
                    left.iter().flat_map(|first| right.iter().map(move |last| (first, last)));
                let common: Vec<_> =
                    pairs.filter_map(|(first, last)| first.intersection(*last)).collect();
                if common.is_empty() {
                    return Err(ErrorCode::Null.into());
                }
                common
            }
            _ => {
                let mut all = left.iter().chain(right.iter()).copied();
                let first = all.next().ok_or(ErrorCode::Value)?;
                let bounding = all.try_fold(first, Area::bounding).ok_or(ErrorCode::Value)?;
                vec![bounding]
            }
        };
        self.spend_text(areas.len().saturating_mul(std::mem::size_of::<Area>()))?;
        Ok(Operand::Reference(Rc::new(areas)))
    }

    pub(crate) fn areas(&self, operand: &Operand) -> Outcome<Rc<Vec<Area>>> {
        match operand {
            Operand::Reference(areas) => Ok(Rc::clone(areas)),
            _ => Err(ErrorCode::Value.into()),
        }
    }
}
