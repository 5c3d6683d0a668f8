//! Indexes of columns in which many formulas search.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use cellar_functions::LookupIndex;
use cellar_grid::SheetId;

/// Number of exact searches in the same rows after which they get an index.
const SEARCHES_BEFORE_INDEX: u32 = 3;
/// Maximum memory of all indexes of a calculation, in bytes. Others are dropped.
const MAX_INDEX_BYTES: usize = 64 * 1024 * 1024;

/// The rows of a column in which formulas search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct SearchedRows {
    pub(crate) sheet: SheetId,
    pub(crate) column: u32,
    pub(crate) first_row: u32,
    pub(crate) last_row: u32,
}

#[derive(Debug, Clone)]
enum Lookup {
    Searched(u32),
    Indexed(Arc<LookupIndex>),
}

/// The indexes of a calculation. A value that a calculation has found does not change, so an index
/// stays valid.
#[derive(Debug, Default)]
pub(crate) struct Lookups(Mutex<State>);

#[derive(Debug, Clone, Default)]
struct State {
    by_rows: HashMap<SearchedRows, Lookup>,
    memory_bytes: usize,
}

impl Clone for Lookups {
    fn clone(&self) -> Self {
        let state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Self(Mutex::new(state.clone()))
    }
}

impl Lookups {
    /// Returns the index of some rows, and the number of cells that were read to build it. Returns
    /// `None` if they were searched too rarely. `build` returns `None` if a cell has no value yet.
    pub(crate) fn index(
        &self,
        rows: SearchedRows,
        build: impl FnOnce() -> Option<LookupIndex>,
    ) -> Option<(Arc<LookupIndex>, u64)> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let lookup = state.by_rows.entry(rows).or_insert(Lookup::Searched(0));
        match lookup {
            Lookup::Indexed(index) => return Some((Arc::clone(index), 0)),
            Lookup::Searched(times) if *times < SEARCHES_BEFORE_INDEX => {
                *times += 1;
                return None;
            }
            Lookup::Searched(_) => {}
        }
        let index = Arc::new(build()?);
        *lookup = Lookup::Indexed(Arc::clone(&index));
        state.memory_bytes += index.memory_bytes();
        if state.memory_bytes > MAX_INDEX_BYTES {
            *state = State::default();
        }
        Some((index, u64::from(rows.last_row - rows.first_row) + 1))
    }
}
