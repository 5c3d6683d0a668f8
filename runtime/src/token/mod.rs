//! Tokens of the stack's own keys: signed by the operator, verified in the Lambda
//! (design `4-sync.md` §2a, I19).

mod claims;
mod mint;
#[cfg(test)]
mod tests;
mod verify;

pub use claims::{Claims, Spreadsheets};
pub use mint::{KeyPair, MintError};
pub use verify::{TokenError, Verifier};
