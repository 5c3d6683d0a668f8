//! The Lambda bundle: a zip file with one binary that serves all functions.
//!
//! Builds are reproducible across machines. The bundle name contains the hash of the binary.

mod archive;
mod build;
mod checked;
mod elf;
mod error;
mod file;
mod host;
mod limits;

use std::path::Path;

use cellar_stacks::Architecture;

use crate::cli::Output;
use build::Builder;

pub(crate) use checked::{Bundle, CheckedBinary};
pub(crate) use elf::GLIBC;
pub(crate) use error::BundleError;
pub(crate) use host::Host;

/// If `prebuilt` is `None`, builds a binary and checks it.
pub(crate) fn check_or_build(
    prebuilt: Option<&Path>,
    architecture: Architecture,
    output: &Output,
) -> Result<CheckedBinary, BundleError> {
    match prebuilt {
        Some(path) => {
            let binary = file::read_bundle(path)?;
            CheckedBinary::check(binary, path.display().to_string(), architecture)
        }
        None => Builder::new(output).build(architecture),
    }
}

pub(crate) fn pack_with_progress(
    binary: CheckedBinary,
    output: &Output,
) -> Result<Bundle, BundleError> {
    let step = output.start_step("Pack the bundle");
    step.finish(binary.pack(), |bundle| format!("{} bytes", bundle.zip.len()))
}
