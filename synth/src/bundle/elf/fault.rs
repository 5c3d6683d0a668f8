//! Reasons why Lambda cannot run a binary.

use cellar_stacks::Architecture;

use super::platform::{GLIBC, loader_path, newest_version};
use crate::bundle::host::target_triple;

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum ElfFault {
    #[error("it is {actual}, not a Linux program")]
    NotElf {
        /// Actual format, such as "a script".
        actual: &'static str,
    },
    #[error("it is not for a 64-bit little-endian processor")]
    Class,
    #[error("it is for {actual}, but the functions are for {expected}")]
    Machine {
        actual: String,
        /// Architecture of the Lambda functions.
        expected: Architecture,
    },
    #[error("it is a library or an object file, not an executable program")]
    NotProgram,
    #[error("it is damaged: {0}")]
    Malformed(String),
    /// The binary exceeds a limit that no real program reaches.
    #[error("it has more than {limit} {item}")]
    TooMany {
        item: &'static str,
        /// Maximum number of items.
        limit: usize,
    },
    #[error("it needs the loader `{actual}`, which Amazon Linux 2023 does not have")]
    Loader {
        /// Loader path in the binary.
        actual: String,
    },
    #[error("it needs the library `{name}`, which Amazon Linux 2023 does not have")]
    Library {
        /// Name of the library.
        name: String,
    },
    #[error(
        "it needs {version} of {library}{}, but Amazon Linux 2023 only has {}",
        symbol.as_ref().map(|symbol| format!(" (for `{symbol}`)")).unwrap_or_default(),
        newest_version(version)
    )]
    TooNew {
        /// Name of the required library version, such as `GLIBC_2.38`.
        version: String,
        library: String,
        /// Name of a symbol in the binary that requires this library version, as an example.
        symbol: Option<String>,
    },
}

impl ElfFault {
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
