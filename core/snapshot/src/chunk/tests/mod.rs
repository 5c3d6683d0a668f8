//! Tests of whole tiles and chunks.

mod golden;
mod hostile;
mod limits;
mod packed;
mod reference;
mod round_trip;
mod support;
