//! Spreadsheet ids, and hashes that identify users and clients.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use uuid::Uuid;

use crate::limits::{MAX_CLIENT_ID_BYTES, MAX_NONCE_BYTES};

/// The UUID of a spreadsheet and of its log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = SpreadsheetId))]
pub struct LogId(Uuid);

/// Bytes 6 and 7 of every fork's UUID: the UUID version (8, custom), followed by the digits `f0c`.
const FORK_MARK: [u8; 2] = [0x8f, 0x0c];

/// A nonce or client id is empty or too long.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the {what} has {length} bytes; its length must be between 1 and {max} bytes")]
pub struct BadLength {
    /// Name of the value.
    pub what: &'static str,
    /// Maximum length in bytes.
    pub max: usize,
    /// Actual length in bytes.
    pub length: usize,
}

impl LogId {
    /// Derives the id of the spreadsheet that the user `subject` creates with the idempotency key
    /// `nonce`. The id is a hash of both values. A repeated request therefore yields the same id,
    /// and a user cannot choose the id of another user's spreadsheet.
    ///
    /// # Errors
    /// Returns [`BadLength`] if the nonce is empty or longer than `MAX_NONCE_BYTES`.
    pub fn derive(subject: &SubjectKey, nonce: &str) -> Result<Self, BadLength> {
        check_length("nonce", nonce, MAX_NONCE_BYTES)?;
        let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 spreadsheet id");
        hasher.update(&subject.0);
        hasher.update(nonce.as_bytes());
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        Ok(Self(uuid::Builder::from_custom_bytes(bytes).into_uuid()))
    }

    /// Derives the id of the fork that the user `subject` creates from the spreadsheet `source`
    /// with the idempotency key `nonce`. [`LogId::may_be_fork`] returns `true` for every such id.
    ///
    /// # Errors
    /// Returns [`BadLength`] if the nonce is empty or longer than `MAX_NONCE_BYTES`.
    pub fn derive_fork(subject: &SubjectKey, source: Self, nonce: &str) -> Result<Self, BadLength> {
        check_length("nonce", nonce, MAX_NONCE_BYTES)?;
        let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 fork id");
        hasher.update(&subject.0);
        hasher.update(source.as_bytes());
        hasher.update(nonce.as_bytes());
        let mut bytes = [0; 16];
        hasher.finalize_xof().fill(&mut bytes);
        let [a, b, c, d, e, f, _, _, rest @ ..] = bytes;
        let [high, low] = FORK_MARK;
        let [g, h, i, j, k, l, m, n] = rest;
        let marked = [a, b, c, d, e, f, high, low, g, h, i, j, k, l, m, n];
        Ok(Self(uuid::Builder::from_custom_bytes(marked).into_uuid()))
    }

    /// Returns whether the spreadsheet may be a fork. The ids of all forks contain the UUID group
    /// `8f0c`. Other ids may contain it by chance, so a caller that must be certain reads the log.
    #[must_use]
    pub fn may_be_fork(&self) -> bool {
        let [_, _, _, _, _, _, high, low, ..] = *self.as_bytes();
        [high, low] == FORK_MARK
    }

    #[must_use]
    pub fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 16] {
        self.0.as_bytes()
    }
}

impl fmt::Display for LogId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for LogId {
    type Err = uuid::Error;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Uuid::from_str(text).map(Self)
    }
}

/// Hash that identifies a user, derived from the issuer and subject of the user's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct SubjectKey([u8; 32]);

impl SubjectKey {
    #[must_use]
    pub fn new(issuer: &str, subject: &str) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 subject");
        // The length prefix makes the hash input unambiguous. Without it, ("ab", "c") and ("a",
        // "bc") would have the same hash.
        hasher.update(&u64::try_from(issuer.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(issuer.as_bytes());
        hasher.update(subject.as_bytes());
        Self(*hasher.finalize().as_bytes())
    }

    #[must_use]
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

/// Identifies the client that wrote an entry, so that repeated mutations are recognized. The key is
/// an 8-byte hash of the user and the client id. The user is included so that no user can
/// impersonate another user's client.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClientKey(pub [u8; 8]);

impl ClientKey {
    /// Derives the key under which the edits of a fork are merged into another log. It depends only
    /// on the fork, so that its edits are merged once, regardless of the person who merges them.
    #[must_use]
    pub fn of_merge(fork: LogId) -> Self {
        let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 merge");
        hasher.update(fork.as_bytes());
        Self::finish(&hasher)
    }

    /// Derives the key of the client `client_id` of the user `subject`.
    ///
    /// # Errors
    /// Returns [`BadLength`] if the client id is empty or longer than `MAX_CLIENT_ID_BYTES`.
    pub fn derive(subject: &SubjectKey, client_id: &str) -> Result<Self, BadLength> {
        check_length("client id", client_id, MAX_CLIENT_ID_BYTES)?;
        let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 client");
        hasher.update(&subject.0);
        hasher.update(client_id.as_bytes());
        Ok(Self::finish(&hasher))
    }

    fn finish(hasher: &blake3::Hasher) -> Self {
        let mut bytes = [0; 8];
        hasher.finalize_xof().fill(&mut bytes);
        Self(bytes)
    }
}

/// The ids of a Replicache client and of its client group. A pull response must contain both ids,
/// so both are stored with the client's mutations.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ClientName {
    group: String,
    client: String,
}

impl ClientName {
    /// Creates the name of `client` in the client group `group`.
    ///
    /// # Errors
    /// Returns [`BadLength`] if one of the ids is empty or longer than `MAX_CLIENT_ID_BYTES`.
    pub fn new(group: &str, client: &str) -> Result<Self, BadLength> {
        check_length("client group id", group, MAX_CLIENT_ID_BYTES)?;
        check_length("client id", client, MAX_CLIENT_ID_BYTES)?;
        Ok(Self { group: group.to_owned(), client: client.to_owned() })
    }

    #[must_use]
    pub fn group(&self) -> &str {
        &self.group
    }

    #[must_use]
    pub fn client(&self) -> &str {
        &self.client
    }

    /// Derives the client key from the user, the client group id and the client id. The result
    /// never equals the key of a client without a client group.
    #[must_use]
    pub fn key(&self, subject: &SubjectKey) -> ClientKey {
        let mut hasher = blake3::Hasher::new_derive_key("cellar 2026 client of a group");
        hasher.update(&subject.0);
        // The length prefix makes the hash input unambiguous. Without it, ("ab", "c") and ("a",
        // "bc") would have the same hash.
        hasher.update(&u64::try_from(self.group.len()).unwrap_or(u64::MAX).to_le_bytes());
        hasher.update(self.group.as_bytes());
        hasher.update(self.client.as_bytes());
        ClientKey::finish(&hasher)
    }

    /// Returns the total length of both ids in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.group.len().saturating_add(self.client.len())
    }
}

/// Checks that the length of `text` is between 1 and `max` bytes. `what` names the value in the
/// error message.
fn check_length(what: &'static str, text: &str, max: usize) -> Result<(), BadLength> {
    if text.is_empty() || text.len() > max {
        return Err(BadLength { what, max, length: text.len() });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn different_subjects_derive_different_ids() {
        assert_ne!(SubjectKey::new("ab", "c"), SubjectKey::new("a", "bc"));
        let (alice, bob) = (SubjectKey::new("cellar", "alice"), SubjectKey::new("cellar", "bob"));
        assert_ne!(LogId::derive(&alice, "n").unwrap(), LogId::derive(&bob, "n").unwrap());
        assert_ne!(ClientKey::derive(&alice, "c").unwrap(), ClientKey::derive(&bob, "c").unwrap());
    }

    #[test]
    fn a_repeated_create_derives_the_same_id() {
        let alice = SubjectKey::new("cellar", "alice");
        let id = LogId::derive(&alice, "budget").unwrap();
        assert_eq!(id, LogId::derive(&alice, "budget").unwrap());
        assert_eq!(id.to_string().parse::<LogId>().unwrap(), id);
        assert_eq!(id.0.get_version_num(), 8);
    }

    #[test]
    fn the_id_of_a_fork_is_marked() {
        let (alice, bob) = (SubjectKey::new("cellar", "alice"), SubjectKey::new("cellar", "bob"));
        let log = LogId::derive(&alice, "budget").unwrap();
        let fork = LogId::derive_fork(&alice, log, "what if").unwrap();
        assert!(fork.may_be_fork() && !log.may_be_fork());
        assert_eq!(fork.to_string().split('-').nth(2), Some("8f0c"));
        assert_eq!(fork.0.get_version_num(), 8);
        assert_eq!(fork.to_string().parse::<LogId>().unwrap(), fork);
        assert_eq!(LogId::derive_fork(&alice, log, "what if").unwrap(), fork);
        let others = [
            LogId::derive_fork(&bob, log, "what if"),
            LogId::derive_fork(&alice, fork, "what if"),
            LogId::derive_fork(&alice, log, "what then"),
        ];
        assert!(others.into_iter().all(|other| other.unwrap() != fork));
        assert!(LogId::derive_fork(&alice, log, &"n".repeat(MAX_NONCE_BYTES)).is_ok());
        assert!(LogId::derive_fork(&alice, log, &"n".repeat(MAX_NONCE_BYTES + 1)).is_err());
        assert!(LogId::derive_fork(&alice, log, "").is_err());
    }

    #[test]
    fn nonce_and_client_id_lengths_are_limited() {
        let alice = SubjectKey::new("cellar", "alice");
        assert!(LogId::derive(&alice, &"n".repeat(MAX_NONCE_BYTES)).is_ok());
        assert!(LogId::derive(&alice, &"n".repeat(MAX_NONCE_BYTES + 1)).is_err());
        assert!(LogId::derive(&alice, "").is_err());
        assert!(ClientKey::derive(&alice, &"c".repeat(MAX_CLIENT_ID_BYTES)).is_ok());
        assert!(ClientKey::derive(&alice, &"c".repeat(MAX_CLIENT_ID_BYTES + 1)).is_err());
        assert!(ClientKey::derive(&alice, "").is_err());
    }

    #[test]
    fn bytes_counts_group_and_client() {
        assert_eq!(ClientName::new("group", "c").unwrap().bytes(), 6);
    }
}
