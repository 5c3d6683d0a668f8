//! Limits of a comparison.

use crate::template::limits::TEMPLATE_BYTES_MAX;

/// Maximum template size: the number of bytes in keys and strings plus the number of values. Every
/// template that CloudFormation accepts is smaller, unless it uses YAML aliases.
pub const DOCUMENT_SIZE_MAX: usize = 2 * TEMPLATE_BYTES_MAX;

/// Maximum number of individual permissions in a template, each for one principal, one action and
/// one resource. IAM limits a role's policies to 10,240 characters, so real templates stay far
/// below this limit.
pub const PERMISSIONS_MAX: usize = 10_000;
