//! Users, identified by the issuer and subject of their tokens.

use std::fmt;

use serde::{Deserialize, Serialize};

use cellar_base::identity::SubjectKey;
use cellar_base::limits::{MAX_AUTHOR_BYTES, MAX_ISSUER_BYTES};

/// A user, identified by the issuer and subject of their tokens.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Person {
    /// Issuer of the user's tokens (claim `iss`).
    pub issuer: String,
    /// Subject of the user's tokens: the claim `sub`, unless another claim is configured.
    pub subject: String,
}

/// The reason why an issuer and a subject do not identify a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadPerson {
    #[error("the subject of a person must have 1 to {MAX_AUTHOR_BYTES} bytes")]
    Subject,
    #[error("the issuer of a person must have 1 to {MAX_ISSUER_BYTES} bytes")]
    Issuer,
    /// The issuer or subject contains a line break or another control character.
    #[error("the subject and issuer of a person must not have control characters")]
    ControlCharacter,
}

impl Person {
    /// Creates a user from the issuer and subject of a token.
    ///
    /// # Errors
    /// Returns [`BadPerson`] if either is too long, is empty or contains control characters.
    pub fn new(issuer: &str, subject: &str) -> Result<Self, BadPerson> {
        if !(1..=MAX_AUTHOR_BYTES).contains(&subject.len()) {
            return Err(BadPerson::Subject);
        }
        if !(1..=MAX_ISSUER_BYTES).contains(&issuer.len()) {
            return Err(BadPerson::Issuer);
        }
        if issuer.chars().chain(subject.chars()).any(char::is_control) {
            return Err(BadPerson::ControlCharacter);
        }
        Ok(Self { issuer: issuer.to_owned(), subject: subject.to_owned() })
    }

    /// Returns the hash of issuer and subject that identifies the user in logs.
    #[must_use]
    pub fn key(&self) -> SubjectKey {
        SubjectKey::new(&self.issuer, &self.subject)
    }
}

impl fmt::Display for Person {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.subject)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_the_length_of_issuers_and_subjects() {
        let person = |issuer: usize, subject: usize| {
            Person::new(&"i".repeat(issuer), &"s".repeat(subject)).map(|it| it.subject.len())
        };
        assert_eq!(person(MAX_ISSUER_BYTES, MAX_AUTHOR_BYTES), Ok(MAX_AUTHOR_BYTES));
        assert_eq!(person(MAX_ISSUER_BYTES + 1, 1), Err(BadPerson::Issuer));
        assert_eq!(person(0, 1), Err(BadPerson::Issuer));
        assert_eq!(person(1, MAX_AUTHOR_BYTES + 1), Err(BadPerson::Subject));
        assert_eq!(person(1, 0), Err(BadPerson::Subject));
        assert_eq!(Person::new("i", "a\nb"), Err(BadPerson::ControlCharacter));
        assert_eq!(Person::new("i\0", "a"), Err(BadPerson::ControlCharacter));
    }

    #[test]
    fn equal_subjects_of_different_issuers_are_different_persons() {
        let (here, there) =
            (Person::new("cellar", "bob").unwrap(), Person::new("https://id", "bob").unwrap());
        assert_ne!(here, there);
        assert_ne!(here.key(), there.key());
        assert_eq!(here.key(), SubjectKey::new("cellar", "bob"));
    }
}
