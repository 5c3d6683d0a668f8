//! `synth bundle`: builds, checks and writes the zip that Lambda runs.

use std::path::{Path, PathBuf};

use cellar_stacks::Architecture;
use serde::Serialize;

use crate::bundle::{self, Bundle, GLIBC, Host};
use crate::cli::{ArchitectureArgument, BundleArguments, Output};
use crate::error::SynthError;
use crate::output_file::{IfExists, write_output};
use crate::project::{ConfigSelection, Project};

#[derive(Serialize)]
struct BundleReport<'a> {
    written: &'a Path,
    name: &'a str,
    architecture: Architecture,
    bytes: usize,
    binary_bytes: usize,
    blake3: &'a str,
    /// `None` if the binary is statically linked.
    glibc: Option<String>,
}

pub(crate) fn write_bundle(
    config_selection: ConfigSelection<'_>,
    arguments: &BundleArguments,
    output: &Output,
) -> Result<(), SynthError> {
    let host_architecture = Host::current().architecture();
    let architecture = match arguments.architecture {
        Some(ArchitectureArgument::X86_64) => Architecture::X86_64,
        Some(ArchitectureArgument::Arm64) => Architecture::Arm64,
        Some(ArchitectureArgument::Host) => host_architecture,
        None => Project::find(config_selection)?.config.architecture_or(host_architecture),
    };
    let binary = bundle::check_or_build(arguments.binary.as_deref(), architecture, output)?;
    let bundle = bundle::pack_with_progress(binary, output)?;
    let path = bundle_path(arguments.output.as_deref(), &bundle.name);
    write_output(&path, IfExists::Replace, &bundle.zip)?;
    let report = BundleReport::new(&bundle, &path);
    output.print_result(&report, &report.to_text());
    Ok(())
}

/// `output_option` is a file, or a directory in which the file is named after the bundle.
fn bundle_path(output_option: Option<&Path>, bundle_name: &str) -> PathBuf {
    match output_option {
        Some(folder) if folder.is_dir() => folder.join(bundle_name),
        Some(file) => file.to_owned(),
        None => PathBuf::from(bundle_name),
    }
}

impl<'a> BundleReport<'a> {
    fn new(bundle: &'a Bundle, path: &'a Path) -> Self {
        Self {
            written: path,
            name: &bundle.name,
            architecture: bundle.architecture,
            bytes: bundle.zip.len(),
            binary_bytes: bundle.binary_bytes,
            blake3: &bundle.hash,
            glibc: bundle.glibc.map(|version| version.to_string()),
        }
    }

    fn to_text(&self) -> String {
        let glibc_requirement = match &self.glibc {
            Some(version) => format!("GLIBC {version} (Amazon Linux 2023 has {GLIBC})"),
            None => "no GLIBC: it is linked statically".to_owned(),
        };
        let lines = [
            self.name.to_owned(),
            format!("  for      {}", self.architecture),
            format!("  size     {} bytes, {} unpacked", self.bytes, self.binary_bytes),
            format!("  needs    {glibc_requirement}"),
            format!("  blake3   {} (binary)", self.blake3),
            format!("  written  {}", self.written.display()),
        ];
        lines.join("\n")
    }
}
