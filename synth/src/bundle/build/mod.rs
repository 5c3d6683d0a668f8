//! Builds the Lambda binary from the same source tree as this program.

mod messages;
mod run;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::{Command, Stdio};

use cellar_stacks::Architecture;

use self::run::run_build;
use super::checked::CheckedBinary;
use super::elf::{ElfFault, GLIBC, blank_unwind_tables};
use super::error::BundleError;
use super::file;
use super::host::{Host, target_triple};
use crate::cli::Output;
use crate::sources::source_folder;

/// Package of the binary.
const PACKAGE: &str = "cellar-runtime";
/// Name of the binary.
const BINARY: &str = "bootstrap";
/// Cargo profile of the Lambda binary.
const PROFILE: &str = "lambda";
/// Environment variable that sets cargo's target directory.
const TARGET_FOLDER_VARIABLE: &str = "CARGO_TARGET_DIR";

/// A builder for the Lambda binary.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    cargo: PathBuf,
    sources: PathBuf,
    host: Host,
    output: &'a Output,
}

/// Cargo subcommand that builds the binary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum BuildTool {
    /// `cargo build`, which links against the host's GLIBC.
    Build,
    /// `cargo zigbuild`, which can cross-compile and can link against a chosen GLIBC version.
    Zigbuild,
}

impl<'a> Builder<'a> {
    /// Creates a builder. It runs the cargo that started this program or, if there is none, the
    /// cargo in PATH.
    pub(super) fn new(output: &'a Output) -> Self {
        let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
        Self { cargo, sources: source_folder(), host: Host::current(), output }
    }

    /// Builds the Lambda binary for an architecture. If the host's GLIBC is too new for Lambda and
    /// `cargo zigbuild` is installed, builds again with `cargo zigbuild`.
    pub(super) fn build(&self, architecture: Architecture) -> Result<CheckedBinary, BundleError> {
        if !self.sources.join("runtime/Cargo.toml").is_file() {
            return Err(BundleError::Sources { path: self.sources.clone() });
        }
        if !self.host.can_build(architecture) {
            if !self.has_zigbuild() {
                return Err(BundleError::needs_cross_compiler(self.host, architecture));
            }
            return self.build_with(BuildTool::Zigbuild, architecture);
        }
        match self.build_with(BuildTool::Build, architecture) {
            Err(BundleError::Unfit { fault, .. })
                if matches!(*fault, ElfFault::TooNew { .. }) && self.has_zigbuild() =>
            {
                self.output.print_note(&format!(
                    "Lambda cannot run this binary: {fault}. Building again with GLIBC {GLIBC} (cargo \
                     zigbuild)."
                ));
                self.build_with(BuildTool::Zigbuild, architecture)
            }
            result => result,
        }
    }

    fn build_with(
        &self,
        tool: BuildTool,
        architecture: Architecture,
    ) -> Result<CheckedBinary, BundleError> {
        let step = self.output.start_step("Build the bundle");
        let command = self.command(tool, architecture);
        let checked = run_build(command, tool.name(), BINARY, &step).and_then(|path| {
            let binary = blank_unwind_tables(file::read_binary(&path)?);
            CheckedBinary::check(binary, format!("the binary of {}", tool.name()), architecture)
        });
        step.finish(checked, |_| format!("{BINARY} for {architecture}"))
    }

    fn command(&self, tool: BuildTool, architecture: Architecture) -> Command {
        let mut command = Command::new(&self.cargo);
        command.current_dir(&self.sources).args(tool.arguments(architecture));
        // Cargo runs in another directory, so resolve a relative target directory against the
        // working directory of this program.
        if let Some(folder) = std::env::var_os(TARGET_FOLDER_VARIABLE)
            && let Ok(folder) = std::path::absolute(folder)
        {
            command.env(TARGET_FOLDER_VARIABLE, folder);
        }
        command
    }

    fn has_zigbuild(&self) -> bool {
        let mut command = Command::new(&self.cargo);
        command.current_dir(&self.sources).args(["zigbuild", "--version"]);
        command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    }
}

impl BuildTool {
    fn name(self) -> &'static str {
        match self {
            Self::Build => "cargo build",
            Self::Zigbuild => "cargo zigbuild",
        }
    }

    fn arguments(self, architecture: Architecture) -> Vec<String> {
        let command = match self {
            Self::Build => "build",
            Self::Zigbuild => "zigbuild",
        };
        let mut arguments =
            [command, "--locked", "--profile", PROFILE, "-p", PACKAGE, "--bin", BINARY]
                .map(str::to_owned)
                .to_vec();
        arguments.push("--message-format=json-render-diagnostics".to_owned());
        if self == Self::Zigbuild {
            arguments.extend([
                "--target".to_owned(),
                format!("{}.{GLIBC}", target_triple(architecture)),
            ]);
        }
        arguments
    }
}
