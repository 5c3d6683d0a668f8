//! Bounds of a comparison.

use crate::stack::limits::TEMPLATE_BYTES_MAX;

/// Letters, keys and values of one side together. Without YAML's aliases no text that CloudFormation
/// accepts has more.
pub const DOCUMENT_SIZE_MAX: usize = 2 * TEMPLATE_BYTES_MAX;

/// Single permissions of one side: one principal, one action and one resource each. IAM accepts
/// 10,240 letters of policies in a role, which is far fewer.
pub const PERMISSIONS_MAX: usize = 10_000;
