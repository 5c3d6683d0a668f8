//! The `architecture:` field of `cellar.yaml`.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The CPU architecture of the functions. It is serialized as in Lambda's API.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Architecture {
    #[serde(rename = "x86_64")]
    X86_64,
    /// AWS Graviton processors, which cost less than x86 processors for the same work.
    #[serde(rename = "arm64")]
    Arm64,
}

impl Architecture {
    /// Returns the name of the architecture in Lambda's `Architectures` property and in
    /// `cellar.yaml`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86_64 => "x86_64",
            Self::Arm64 => "arm64",
        }
    }
}

impl std::fmt::Display for Architecture {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.name())
    }
}

#[derive(Serialize, Deserialize)]
#[serde(untagged, expecting = "`architecture` is x86_64, arm64 or host")]
enum Choice {
    Named(Architecture),
    Host(Host),
}

#[derive(Serialize, Deserialize)]
enum Host {
    #[serde(rename = "host")]
    Host,
}

/// `host` becomes `None`.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Architecture>, D::Error> {
    Ok(match Choice::deserialize(deserializer)? {
        Choice::Named(architecture) => Some(architecture),
        Choice::Host(Host::Host) => None,
    })
}

/// `None` becomes `host`.
pub(super) fn serialize<S: Serializer>(
    architecture: &Option<Architecture>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let choice = architecture.map_or(Choice::Host(Host::Host), Choice::Named);
    choice.serialize(serializer)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Config;

    #[test]
    fn reads_the_name_of_an_architecture() {
        for architecture in [Architecture::X86_64, Architecture::Arm64] {
            let text = format!("architecture: {architecture}\n");
            let config = Config::parse(&text, "cellar.yaml").unwrap();
            assert_eq!(config.architecture, Some(architecture));
        }
    }

    #[test]
    fn host_is_the_default() {
        let config = Config::parse("architecture: host\n", "cellar.yaml").unwrap();
        assert_eq!(config, Config::default());
        assert_eq!(serde_json::to_value(&config).unwrap()["architecture"], "host");
        let error = Config::parse("architecture: mips\n", "cellar.yaml").unwrap_err().to_string();
        assert!(error.contains("x86_64, arm64 or host"), "{error}");
    }
}
