//! Builds the binary from the sources that this program came from.

mod messages;
mod run;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use cellar_stacks::Architecture;

use self::run::run;
use super::elf::{ElfFault, GLIBC, without_tables};
use super::error::BundleError;
use super::host::{Host, target};
use super::{Fit, file};
use crate::cli::Output;

/// The folder of this crate when it was built: the sources are above it.
const CRATE: &str = env!("CARGO_MANIFEST_DIR");
/// What is built, as `Cargo.toml` has it.
const PACKAGE: &str = "cellar-runtime";
const BINARY: &str = "bootstrap";
const PROFILE: &str = "lambda";
/// Where builds go, if not below the sources.
const TARGET_FOLDER: &str = "CARGO_TARGET_DIR";

/// Builds the binary.
#[derive(Debug)]
pub(super) struct Builder<'a> {
    cargo: PathBuf,
    sources: PathBuf,
    host: Host,
    output: &'a Output,
}

/// Who links.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Tool {
    /// `cargo build`, with this machine's linker and GLIBC.
    Build,
    /// `cargo zigbuild`, with any processor's linker and the GLIBC that is asked for.
    Zigbuild,
}

impl<'a> Builder<'a> {
    /// With the cargo that runs this program, or the usual one.
    pub(super) fn new(output: &'a Output) -> Self {
        let cargo = std::env::var_os("CARGO").map_or_else(|| PathBuf::from("cargo"), PathBuf::from);
        let sources = Path::new(CRATE).parent().unwrap_or(Path::new(CRATE)).to_owned();
        Self { cargo, sources, host: Host::this(), output }
    }

    /// A binary that functions of that architecture can run.
    pub(super) fn build(&self, architecture: Architecture) -> Result<Fit, BundleError> {
        if !self.sources.join("runtime/Cargo.toml").is_file() {
            return Err(BundleError::Sources { path: self.sources.clone() });
        }
        if self.host.builds(architecture) {
            match self.build_with(Tool::Build, architecture) {
                Err(BundleError::Unfit { fault, .. })
                    if matches!(*fault, ElfFault::TooNew { .. }) && self.has_zigbuild() =>
                {
                    self.output.note(&format!(
                        "That binary does not fit, {fault}: cargo zigbuild links it with GLIBC \
                         {GLIBC}."
                    ));
                }
                result => return result,
            }
        } else if !self.has_zigbuild() {
            return Err(BundleError::cross(self.host, architecture));
        }
        self.build_with(Tool::Zigbuild, architecture)
    }

    fn build_with(&self, tool: Tool, architecture: Architecture) -> Result<Fit, BundleError> {
        let step = self.output.step("Build the bundle");
        let built = run(self.command(tool, architecture), tool.name(), &step);
        let built = built.and_then(|path| {
            let binary = without_tables(file::read_binary(&path)?);
            Fit::check(binary, format!("the binary of {}", tool.name()), architecture)
        });
        step.ended(built, |_| format!("{BINARY} for {architecture}"))
    }

    fn command(&self, tool: Tool, architecture: Architecture) -> Command {
        let mut command = Command::new(&self.cargo);
        command.current_dir(&self.sources).args(tool.arguments(architecture));
        // It is meant from where this program was called.
        let folder = std::env::var_os(TARGET_FOLDER).and_then(|set| std::path::absolute(set).ok());
        if let Some(folder) = folder {
            command.env(TARGET_FOLDER, folder);
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

impl Tool {
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
            arguments.extend(["--target".to_owned(), format!("{}.{GLIBC}", target(architecture))]);
        }
        arguments
    }
}
