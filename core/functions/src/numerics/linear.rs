//! Linear algebra. Matrices are stored as vectors of rows unless noted otherwise.

/// Returns the determinant of a square matrix.
pub(crate) fn determinant(mut rows: Vec<Vec<f64>>) -> f64 {
    let size = rows.len();
    let mut result = 1.0;
    for step in 0..size {
        let Some(pivot) = pivot_row(&rows, step) else { return 0.0 };
        if pivot != step {
            rows.swap(pivot, step);
            result = -result;
        }
        let pivot_value = value(&rows, step, step);
        result *= pivot_value;
        for row in step + 1..size {
            let factor = value(&rows, row, step) / pivot_value;
            subtract_row(&mut rows, row, step, factor);
        }
    }
    result
}

/// Returns the inverse of a square matrix, or `None` if it is singular.
pub(crate) fn inverse(mut rows: Vec<Vec<f64>>) -> Option<Vec<Vec<f64>>> {
    let size = rows.len();
    for (index, row) in rows.iter_mut().enumerate() {
        row.extend((0..size).map(|column| if column == index { 1.0 } else { 0.0 }));
    }
    for step in 0..size {
        let pivot = pivot_row(&rows, step)?;
        rows.swap(pivot, step);
        let pivot_value = value(&rows, step, step);
        rows.get_mut(step)?.iter_mut().for_each(|value| *value /= pivot_value);
        for row in (0..size).filter(|row| *row != step) {
            let factor = value(&rows, row, step);
            subtract_row(&mut rows, row, step, factor);
        }
    }
    Some(rows.into_iter().map(|row| row.into_iter().skip(size).collect()).collect())
}

/// Returns the product of two matrices.
pub(crate) fn multiply(left: &[Vec<f64>], right: &[Vec<f64>]) -> Vec<Vec<f64>> {
    let columns = right.first().map_or(0, Vec::len);
    left.iter()
        .map(|row| {
            (0..columns)
                .map(|column| {
                    let other = right.iter().map(|row| row.get(column).copied().unwrap_or(0.0));
                    row.iter().zip(other).map(|(left, right)| left * right).sum()
                })
                .collect()
        })
        .collect()
}

fn value(rows: &[Vec<f64>], row: usize, column: usize) -> f64 {
    rows.get(row).and_then(|row| row.get(column)).copied().unwrap_or(0.0)
}

/// Returns the pivot row for column `step`: the row from `step` on with the largest absolute value
/// in that column. Returns `None` if that value is negligible and the matrix therefore singular.
fn pivot_row(rows: &[Vec<f64>], step: usize) -> Option<usize> {
    const NEGLIGIBLE: f64 = 1e-15;
    let size = |row: &usize| value(rows, *row, step).abs();
    let row = (step..rows.len()).max_by(|left, right| size(left).total_cmp(&size(right)))?;
    let largest = rows.iter().flatten().fold(0.0, |largest: f64, value| largest.max(value.abs()));
    if size(&row) <= largest * NEGLIGIBLE { None } else { Some(row) }
}

fn subtract_row(rows: &mut [Vec<f64>], row: usize, other: usize, factor: f64) {
    let Some(subtracted) = rows.get(other).cloned() else { return };
    let Some(target) = rows.get_mut(row) else { return };
    for (value, other) in target.iter_mut().zip(subtracted) {
        *value -= factor * other;
    }
}

/// Solves a linear least squares problem by QR decomposition with the modified Gram-Schmidt
/// process. A column that is linearly dependent on the columns before it gets the coefficient 0.
pub(crate) fn least_squares(columns: &[Vec<f64>], target: &[f64]) -> LeastSquares {
    let mut basis: Vec<Option<Vec<f64>>> = Vec::new();
    let mut triangle: Vec<Vec<f64>> = Vec::new();
    let mut projections = Vec::new();
    let mut rest = target.to_vec();
    for column in columns {
        let original = dot(column, column).sqrt();
        let mut vector = column.clone();
        let mut coefficients = vec![0.0; basis.len()];
        // The second orthogonalization pass removes the rounding errors of the first.
        for _ in 0..2 {
            for (direction, coefficient) in basis.iter().zip(&mut coefficients) {
                let Some(direction) = direction else { continue };
                let part = dot(direction, &vector);
                *coefficient += part;
                add_scaled(&mut vector, direction, -part);
            }
        }
        let length = dot(&vector, &vector).sqrt();
        if length <= original * 1e-10 || original == 0.0 {
            basis.push(None);
            coefficients.push(0.0);
            projections.push(0.0);
        } else {
            vector.iter_mut().for_each(|value| *value /= length);
            let part = dot(&vector, &rest);
            add_scaled(&mut rest, &vector, -part);
            projections.push(part);
            coefficients.push(length);
            basis.push(Some(vector));
        }
        triangle.push(coefficients);
    }
    let kept: Vec<bool> = basis.iter().map(Option::is_some).collect();
    let solution = back_substitution(&triangle, &kept, &projections);
    let inverse_diagonal = inverse_diagonal(&triangle, &kept);
    LeastSquares { solution, inverse_diagonal, kept, residual: dot(&rest, &rest) }
}

/// The solution of a least squares problem. Each vector has one element for each column of X.
pub(crate) struct LeastSquares {
    pub(crate) solution: Vec<f64>,
    /// The diagonal of (XᵀX)⁻¹, from which standard errors are computed.
    pub(crate) inverse_diagonal: Vec<f64>,
    /// Whether each column is linearly independent of the columns before it.
    pub(crate) kept: Vec<bool>,
    /// The sum of squared residuals.
    pub(crate) residual: f64,
}

/// Solves R·x = `projections` by back substitution. `triangle` contains the columns of the upper
/// triangular matrix R. Columns that are not `kept` get the coefficient 0.
fn back_substitution(triangle: &[Vec<f64>], kept: &[bool], projections: &[f64]) -> Vec<f64> {
    let size = triangle.len();
    let mut solution = vec![0.0; size];
    for index in (0..size).rev() {
        if !kept.get(index).copied().unwrap_or(false) {
            continue;
        }
        let known: f64 = (index + 1..size)
            .map(|later| value(triangle, later, index) * at(&solution, later))
            .sum();
        let own = (at(projections, index) - known) / value(triangle, index, index);
        if let Some(slot) = solution.get_mut(index) {
            *slot = own;
        }
    }
    solution
}

/// Returns the diagonal of (XᵀX)⁻¹. Each element is the sum of squares of a row of R⁻¹.
fn inverse_diagonal(triangle: &[Vec<f64>], kept: &[bool]) -> Vec<f64> {
    let size = triangle.len();
    let mut diagonal = vec![0.0; size];
    for unit in 0..size {
        let unit_vector: Vec<f64> =
            (0..size).map(|index| if index == unit { 1.0 } else { 0.0 }).collect();
        if kept.get(unit).copied().unwrap_or(false) {
            let solved = back_substitution(triangle, kept, &unit_vector);
            for (slot, value) in diagonal.iter_mut().zip(solved) {
                *slot += value * value;
            }
        }
    }
    diagonal
}

fn at(values: &[f64], index: usize) -> f64 {
    values.get(index).copied().unwrap_or(0.0)
}

fn dot(left: &[f64], right: &[f64]) -> f64 {
    left.iter().zip(right).map(|(left, right)| left * right).sum()
}

fn add_scaled(target: &mut [f64], source: &[f64], factor: f64) {
    for (target, source) in target.iter_mut().zip(source) {
        *target += factor * source;
    }
}
