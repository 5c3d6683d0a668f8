//! Log entries and their transforms, appends, segments and retention.

pub mod append;
pub mod bisection;
pub mod entry;
pub mod forward_read;
#[cfg(any(test, feature = "testing"))]
pub mod invariants;
pub mod lineage;
pub mod load;
pub mod merge;
pub mod presence;
pub mod records;
pub mod retention;
pub mod roll;
pub mod segment;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod transform;
pub mod upkeep;
pub mod viewpoint;
