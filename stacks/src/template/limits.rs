//! Limits of CloudFormation templates.

/// Maximum length of a logical id in characters.
pub const LOGICAL_ID_CHARS_MAX: usize = 255;
/// Maximum number of resources.
pub const RESOURCES_MAX: usize = 500;
/// Maximum number of parameters.
pub const PARAMETERS_MAX: usize = 200;
/// Maximum number of outputs.
pub const OUTPUTS_MAX: usize = 200;
/// Maximum size in bytes of a template that is deployed from S3. AWS documents the limit as 1 MB;
/// this is the smaller of the two possible meanings.
pub const TEMPLATE_BYTES_MAX: usize = 1_000_000;
/// Maximum length of a template's description in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 1024;
/// Minimum visibility timeout of a queue, as a multiple of the timeout of the function that reads
/// from the queue. This is a recommendation of Lambda.
pub const VISIBILITY_TIMEOUTS: u64 = 6;
