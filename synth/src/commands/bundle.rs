//! `synth bundle`: builds, checks and writes the zip that Lambda runs.

use std::path::{Path, PathBuf};

use cellar_stacks::Architecture;
use serde::Serialize;

use crate::bundle::{self, Bundle, GLIBC, Host};
use crate::cli::{ArchitectureArgument, BundleArguments, Output};
use crate::error::SynthError;
use crate::output_file::write_output;
use crate::project::{ConfigSelection, Project};

/// The written bundle.
#[derive(Serialize)]
struct Report<'a> {
    written: &'a Path,
    name: &'a str,
    architecture: Architecture,
    /// Zip size in bytes.
    bytes: usize,
    binary_bytes: usize,
    /// Hash of the binary.
    blake3: &'a str,
    /// Lowest GLIBC version with which the binary runs. `None` if the binary is statically linked.
    glibc: Option<String>,
}

/// Builds a bundle, checks it, and writes it to a file.
pub(crate) fn run(
    config: ConfigSelection<'_>,
    arguments: &BundleArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let host = Host::this().architecture();
    let architecture = match arguments.architecture {
        Some(ArchitectureArgument::X86_64) => Architecture::X86_64,
        Some(ArchitectureArgument::Arm64) => Architecture::Arm64,
        Some(ArchitectureArgument::Host) => host,
        None => Project::find(config)?.config.architecture_or(host),
    };
    let binary = bundle::check_or_build(arguments.binary.as_deref(), architecture, output)?;
    let bundle = bundle::pack_with_progress(binary, output)?;
    let path = output_path(arguments.output.as_deref(), &bundle.name);
    write_output(&path, true, &bundle.zip)?;
    let report = report(&bundle, &path);
    output.print_result(&report, &text(&report));
    Ok(())
}

/// Returns the output path. `option` is either a file, or a directory to which the bundle name is
/// appended.
fn output_path(option: Option<&Path>, name: &str) -> PathBuf {
    match option {
        Some(path) if path.is_dir() => path.join(name),
        Some(path) => path.to_owned(),
        None => PathBuf::from(name),
    }
}

fn report<'a>(bundle: &'a Bundle, path: &'a Path) -> Report<'a> {
    Report {
        written: path,
        name: &bundle.name,
        architecture: bundle.architecture,
        bytes: bundle.zip.len(),
        binary_bytes: bundle.binary_bytes,
        blake3: &bundle.hash,
        glibc: bundle.glibc.map(|version| version.to_string()),
    }
}

fn text(report: &Report<'_>) -> String {
    let glibc = match &report.glibc {
        Some(version) => format!("GLIBC {version} (Amazon Linux 2023 has {GLIBC})"),
        None => "no GLIBC: it is linked statically".to_owned(),
    };
    format!(
        "{}\n  for      {}\n  size     {} bytes, {} unpacked\n  needs    {glibc}\n  blake3   {} (binary)\n  \
         written  {}",
        report.name,
        report.architecture,
        report.bytes,
        report.binary_bytes,
        report.blake3,
        report.written.display()
    )
}
