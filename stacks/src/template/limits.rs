//! Limits of CloudFormation templates.

/// Maximum logical id length in characters.
pub const LOGICAL_ID_CHARS_MAX: usize = 255;
/// Maximum number of resources.
pub const RESOURCES_MAX: usize = 500;
/// Maximum number of parameters.
pub const PARAMETERS_MAX: usize = 200;
/// Maximum number of outputs.
pub const OUTPUTS_MAX: usize = 200;
/// The maximum size in bytes of a template that is deployed from S3. AWS documents the limit as 1
/// MB, which may mean 1,000,000 or 1,048,576 bytes. This constant is the smaller number.
pub const TEMPLATE_BYTES_MAX: usize = 1_000_000;
/// The maximum length of a template description in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 1024;
/// The visibility timeout of a queue must be at least this many times the timeout of the function
/// that reads from the queue. Lambda recommends this number.
pub const MIN_VISIBILITY_PER_TIMEOUT: u64 = 6;
