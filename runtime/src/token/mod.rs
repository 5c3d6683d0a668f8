//! Creates and verifies bearer tokens. The API accepts tokens signed by operators with the stack's
//! own keys, and tokens of OIDC issuers.

mod claims;
mod error;
mod header;
mod issuers;
mod mint;
mod oidc;
#[cfg(test)]
mod tests;
mod verified;
mod verify;

pub use claims::{Claims, Spreadsheets};
pub use error::TokenError;
pub use issuers::Issuers;
pub use mint::{KeyPair, MintError};
#[cfg(feature = "aws")]
pub use oidc::HttpKeySource;
pub use oidc::{KeySource, KeySourceFault, NoKeySource};
pub use verify::Verifier;
