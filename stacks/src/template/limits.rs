//! Limits of CloudFormation templates.

/// Maximum characters of a logical id.
pub const LOGICAL_ID_CHARS_MAX: usize = 255;
/// Maximum number of resources.
pub const RESOURCES_MAX: usize = 500;
/// Maximum number of parameters.
pub const PARAMETERS_MAX: usize = 200;
/// Maximum number of outputs.
pub const OUTPUTS_MAX: usize = 200;
/// Maximum bytes of a template that is deployed from S3. AWS documents 1 MB; this is the smaller of
/// the possible readings.
pub const TEMPLATE_BYTES_MAX: usize = 1_000_000;
/// Maximum bytes of a template's description.
pub const DESCRIPTION_BYTES_MAX: usize = 1024;
/// Minimum visibility timeout of a queue, as a multiple of the timeout of the function that reads
/// from the queue (recommended by Lambda).
pub const VISIBILITY_TIMEOUTS: u64 = 6;
