//! Limits of a comparison.

use crate::template::limits::TEMPLATE_BYTES_MAX;

/// Maximum template size: the number of values plus the number of bytes in keys and strings. Every
/// template that CloudFormation accepts is smaller, unless it contains YAML aliases.
pub const DOCUMENT_SIZE_MAX: usize = 2 * TEMPLATE_BYTES_MAX;

/// Maximum number of individual permissions in a template. An individual permission has one
/// principal, one action and one resource. Real templates have far fewer, because IAM limits a
/// role's policies to 10,240 characters.
pub const PERMISSIONS_MAX: usize = 10_000;
