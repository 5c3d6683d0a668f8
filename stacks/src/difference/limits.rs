//! Limits of a comparison.

use crate::template::limits::TEMPLATE_BYTES_MAX;

/// Maximum size of a template: bytes of keys and strings, plus the number of values. Without YAML aliases,
/// no template that CloudFormation accepts is larger.
pub const DOCUMENT_SIZE_MAX: usize = 2 * TEMPLATE_BYTES_MAX;

/// Maximum number of single permissions in a template. A single permission has one principal, one action
/// and one resource. IAM limits policies of a role to 10,240 characters, which allows far fewer.
pub const PERMISSIONS_MAX: usize = 10_000;
