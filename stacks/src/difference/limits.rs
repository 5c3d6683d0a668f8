//! Limits of a comparison.

use crate::template::limits::TEMPLATE_BYTES_MAX;

/// The maximum size of a template: the number of its values plus the number of bytes in its keys
/// and strings. Only a template with YAML aliases can be larger and still be accepted by
/// CloudFormation.
pub const DOCUMENT_SIZE_MAX: usize = 2 * TEMPLATE_BYTES_MAX;

/// The maximum number of individual permissions in a template. An individual permission has one
/// principal, one action and one resource. Real templates have far fewer, because IAM limits the
/// policies of a role to 10,240 characters.
pub const PERMISSIONS_MAX: usize = 10_000;
