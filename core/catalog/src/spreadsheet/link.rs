//! Share links, which grant access to a spreadsheet to anyone who has the link.

use std::fmt;
use std::str::FromStr;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::access::Role;
use cellar_base::hexadecimal::{hexadecimal, parse_hexadecimal};
use cellar_base::identity::LogId;
use cellar_base::limits::MAX_LINK_LABEL_BYTES;

const PREFIX: &str = "cellar-link";

/// Secret of a share link: 16 random bytes. Only people who have the link know it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LinkSecret(pub [u8; 16]);

/// Hash of a share link's secret. The catalog stores the hash instead of the secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkHash([u8; 16]);

/// Id of a share link: the first half of the secret's hash, as 16 hexadecimal digits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkId([u8; 8]);

/// Role that a share link grants. A share link cannot grant the role of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum LinkRole {
    /// May read.
    Viewer,
    /// May read and append.
    Editor,
}

/// A share link, as stored in the catalog.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// Hash of the secret.
    pub hash: LinkHash,
    /// Role that the share link grants.
    pub role: LinkRole,
    /// Label, visible to owners. May be empty.
    pub label: String,
    /// Expiry time in seconds since the Unix epoch, or `None` if the share link never expires.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expires_s: Option<u64>,
}

/// Bearer token of a share link, `cellar-link.{spreadsheet}.{secret}`.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct LinkToken {
    /// The spreadsheet to which the share link grants access.
    pub log: LogId,
    /// Secret of the link.
    pub secret: LinkSecret,
}

/// A string is not a valid share link, link id, link secret or label.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadLink {
    #[error(
        "the secret of a link must consist of 16 random bytes, encoded as 22 characters of unpadded base64url"
    )]
    Secret,
    #[error("the id of a link must have 16 hexadecimal digits")]
    Id,
    #[error("a share link must have the form `{PREFIX}.SPREADSHEET.SECRET`")]
    Token,
    #[error("the label of a link must be one line of at most {MAX_LINK_LABEL_BYTES} bytes")]
    Label,
}

impl LinkSecret {
    /// Returns the hash of the secret.
    #[must_use]
    pub fn hash(&self) -> LinkHash {
        let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 share link");
        hasher.update(&self.0);
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        LinkHash(bytes)
    }
}

impl FromStr for LinkSecret {
    type Err = BadLink;

    fn from_str(text: &str) -> Result<Self, BadLink> {
        let bytes = URL_SAFE_NO_PAD.decode(text).map_err(|_| BadLink::Secret)?;
        bytes.try_into().map(Self).map_err(|_| BadLink::Secret)
    }
}

impl fmt::Display for LinkSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&URL_SAFE_NO_PAD.encode(self.0))
    }
}

/// Debug output contains the link id instead of the secret, so that secrets are never logged.
impl fmt::Debug for LinkSecret {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LinkSecret(of {})", self.hash().id())
    }
}

impl LinkHash {
    /// Returns the id of the link.
    #[must_use]
    pub fn id(&self) -> LinkId {
        let [a, b, c, d, e, f, g, h, ..] = self.0;
        LinkId([a, b, c, d, e, f, g, h])
    }
}

impl LinkRole {
    /// Returns this role as a [`Role`].
    #[must_use]
    pub fn role(self) -> Role {
        match self {
            Self::Viewer => Role::Viewer,
            Self::Editor => Role::Editor,
        }
    }
}

impl Link {
    /// Whether the link has expired.
    #[must_use]
    pub fn has_expired(&self, now_s: u64) -> bool {
        self.expires_s.is_some_and(|expires_s| expires_s <= now_s)
    }

    /// Checks that a label is a single line within the length limit.
    ///
    /// # Errors
    /// Returns [`BadLink::Label`] if the label is invalid.
    pub fn check_label(label: &str) -> Result<(), BadLink> {
        if label.len() > MAX_LINK_LABEL_BYTES || label.chars().any(char::is_control) {
            return Err(BadLink::Label);
        }
        Ok(())
    }
}

impl LinkToken {
    /// Returns whether a bearer token starts like the token of a share link. The rest of it is not
    /// checked.
    #[must_use]
    pub fn has_prefix(text: &str) -> bool {
        text.strip_prefix(PREFIX).is_some_and(|rest| rest.starts_with('.'))
    }
}

impl FromStr for LinkToken {
    type Err = BadLink;

    fn from_str(text: &str) -> Result<Self, BadLink> {
        let mut parts = text.split('.');
        let (Some(PREFIX), Some(log), Some(secret), None) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return Err(BadLink::Token);
        };
        let log = log.parse().map_err(|_| BadLink::Token)?;
        Ok(Self { log, secret: secret.parse()? })
    }
}

impl fmt::Display for LinkToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{PREFIX}.{}.{}", self.log, self.secret)
    }
}

impl fmt::Debug for LinkToken {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "LinkToken({}, {:?})", self.log, self.secret)
    }
}

/// Implements conversion to and from hexadecimal strings, which are also the JSON encoding.
macro_rules! as_hexadecimal {
    ($name:ident) => {
        impl fmt::Display for $name {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(&hexadecimal(&self.0))
            }
        }

        impl FromStr for $name {
            type Err = BadLink;

            fn from_str(text: &str) -> Result<Self, BadLink> {
                parse_hexadecimal(text).map(Self).ok_or(BadLink::Id)
            }
        }

        impl Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_str(self)
            }
        }

        impl<'de> Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
                String::deserialize(from)?.parse().map_err(serde::de::Error::custom)
            }
        }
    };
}

as_hexadecimal!(LinkHash);
as_hexadecimal!(LinkId);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn link_tokens_round_trip_and_other_texts_are_rejected() {
        let log = LogId::from_uuid(uuid::Uuid::from_bytes([7; 16]));
        let token = LinkToken { log, secret: LinkSecret([0xfb; 16]) };
        let text = token.to_string();
        assert_eq!(text.parse(), Ok(token));
        assert!(LinkToken::has_prefix(&text) && !LinkToken::has_prefix("cellar-linked"));
        assert!(!format!("{token:?}").contains(&token.secret.to_string()));
        let secret = token.secret.to_string();
        for (bad, why) in [
            (String::new(), BadLink::Token),
            (format!("{text}.x"), BadLink::Token),
            (format!("other.{log}.{secret}"), BadLink::Token),
            (format!("cellar-link.7.{secret}"), BadLink::Token),
            (format!("cellar-link.{log}.{secret}="), BadLink::Secret),
            (format!("cellar-link.{log}.{}", secret.trim_end_matches('w')), BadLink::Secret),
            (format!("cellar-link.{log}.{secret}AA"), BadLink::Secret),
            (format!("cellar-link.{log}."), BadLink::Secret),
        ] {
            assert_eq!(bad.parse::<LinkToken>(), Err(why), "{bad}");
        }
    }

    #[test]
    fn hashes_and_ids_are_hexadecimal() {
        let hash = LinkSecret([1; 16]).hash();
        assert_ne!(hash, LinkSecret([2; 16]).hash());
        assert_eq!(hash.to_string().parse(), Ok(hash));
        assert!(hash.to_string().starts_with(&hash.id().to_string()));
        let json = serde_json::to_string(&hash).unwrap();
        assert_eq!(serde_json::from_str::<LinkHash>(&json).unwrap(), hash);
        for bad in ["", "0", "+123456789abcdef", "0123456789abcdeg", "0123456789abcdef0"] {
            assert_eq!(bad.parse::<LinkId>(), Err(BadLink::Id), "{bad}");
        }
    }

    #[test]
    fn checks_the_expiry_and_the_length_of_labels() {
        let link = |expires_s| Link {
            hash: LinkSecret([1; 16]).hash(),
            role: LinkRole::Viewer,
            label: String::new(),
            expires_s,
        };
        assert!(!link(None).has_expired(u64::MAX) && !link(Some(10)).has_expired(9));
        assert!(link(Some(10)).has_expired(10));
        assert_eq!(Link::check_label(&"x".repeat(MAX_LINK_LABEL_BYTES)), Ok(()));
        let long = "x".repeat(MAX_LINK_LABEL_BYTES + 1);
        assert_eq!(Link::check_label(&long), Err(BadLink::Label));
        assert_eq!(Link::check_label("a\nb"), Err(BadLink::Label));
    }
}
