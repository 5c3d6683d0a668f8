//! Numerical methods, independent of spreadsheets.

pub(crate) mod bessel;
pub(crate) mod beta;
pub(crate) mod complex;
pub(crate) mod erf;
pub(crate) mod gamma;
pub(crate) mod linear;
pub(crate) mod real;
pub(crate) mod roots;
