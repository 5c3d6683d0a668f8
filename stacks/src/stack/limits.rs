//! CloudFormation's own limits.

/// Letters in a logical id.
pub const LOGICAL_ID_CHARS_MAX: usize = 255;
/// Resources of a template.
pub const RESOURCES_MAX: usize = 500;
/// Parameters of a template.
pub const PARAMETERS_MAX: usize = 200;
/// Outputs of a template.
pub const OUTPUTS_MAX: usize = 200;
/// Bytes of a template that is deployed from S3. The documentation says 1 MB; this is the
/// smaller of its two readings.
pub const TEMPLATE_BYTES_MAX: usize = 1_000_000;
/// Bytes of a template's description.
pub const DESCRIPTION_BYTES_MAX: usize = 1024;
/// Timeouts of a function for which its queue hides a message at least (Lambda's advice).
pub const VISIBILITY_TIMEOUTS: u64 = 6;
