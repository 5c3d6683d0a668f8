//! Reasons why Lambda cannot run a binary.

use cellar_stacks::Architecture;

use super::platform::{GLIBC, loader_path, newest_version};
use crate::bundle::host::target_triple;

/// Reason why Lambda cannot run a binary.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ElfFault {
    /// The file is not an ELF file.
    #[error("it is {actual}, not a Linux program")]
    NotElf {
        /// Actual format, such as "a script".
        actual: &'static str,
    },
    /// The binary is 32-bit or big-endian.
    #[error("it is not for a 64-bit little-endian processor")]
    Class,
    /// The binary targets another processor.
    #[error("it is for {actual}, but the functions are for {expected}")]
    Machine {
        /// Processor of the binary.
        actual: String,
        /// Architecture of the Lambda functions.
        expected: Architecture,
    },
    /// The binary is a library or an object file.
    #[error("it is a library or an object file, not an executable program")]
    NotProgram,
    /// The ELF headers are malformed.
    #[error("it is damaged: {0}")]
    Malformed(String),
    /// The binary exceeds a limit that no real program reaches.
    #[error("it has more than {limit} {item}")]
    TooMany {
        item: &'static str,
        /// Maximum number of items.
        limit: usize,
    },
    /// The binary requires a dynamic loader that Lambda does not have.
    #[error("it needs the loader `{actual}`, which Amazon Linux 2023 does not have")]
    Loader {
        /// Loader path in the binary.
        actual: String,
    },
    /// The binary requires a library that Lambda does not have.
    #[error("it needs the library `{name}`, which Amazon Linux 2023 does not have")]
    Library {
        /// Name of the library.
        name: String,
    },
    /// The binary requires a newer library version than Lambda has.
    #[error(
        "it needs {version} of {library}{}, but Amazon Linux 2023 only has {}",
        symbol.as_ref().map(|symbol| format!(" (for `{symbol}`)")).unwrap_or_default(),
        newest_version(version)
    )]
    TooNew {
        /// Name of the required library version, such as `GLIBC_2.38`.
        version: String,
        /// Library file name.
        library: String,
        /// Name of a symbol in the binary that requires this library version, as an example.
        symbol: Option<String>,
    },
}

impl ElfFault {
    /// Returns the remedy.
    pub(crate) fn remedy(&self, architecture: Architecture) -> String {
        let target = target_triple(architecture);
        match self {
            Self::Machine { .. } => format!(
                "build the binary for {target}, or set its architecture: --architecture of `synth bundle`, or \
                 `architecture` in cellar.yaml"
            ),
            Self::Loader { .. } => format!(
                "build the binary with the standard toolchain of {target}, which uses the loader `{}`",
                loader_path(architecture)
            ),
            Self::Library { .. } => {
                "link that library statically, or remove it: Lambda has only the libraries of \
                                     GLIBC and libgcc_s"
                    .to_owned()
            }
            Self::TooNew { .. } => format!(
                "link the binary with an older GLIBC: run `pip install cargo-zigbuild`, then `synth bundle`, which \
                 uses it automatically; or run `cargo zigbuild --profile lambda -p cellar-runtime --bin \
                 bootstrap --target {target}.{GLIBC}` elsewhere, and pass the binary to `synth bundle \
                 --binary FILE`"
            ),
            _ => format!(
                "pass a binary that `cargo build --profile lambda -p cellar-runtime --bin bootstrap` built for \
                 {target}, or a zip that contains it"
            ),
        }
    }
}
