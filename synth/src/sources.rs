//! The source tree of Cellar from which this program was built.

use std::path::{Path, PathBuf};

/// Directory of this crate at compile time. Its parent directory contains the whole source tree.
const CRATE_FOLDER: &str = env!("CARGO_MANIFEST_DIR");

/// The directory may no longer exist.
pub(crate) fn source_folder() -> PathBuf {
    let crate_folder = Path::new(CRATE_FOLDER);
    crate_folder.parent().unwrap_or(crate_folder).to_owned()
}
