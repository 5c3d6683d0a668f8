//! Creates AWS SDK configurations, either from the environment variables of a Lambda function or
//! for an endpoint outside AWS.
//!
//! Lambda provides credentials in environment variables. They remain valid for the lifetime of the
//! process. The SDK's default credential providers are not used: they read profile files first, and
//! their support for profiles, STS and instance metadata adds half a megabyte of code.

use std::time::Duration;

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};

use crate::settings::SettingsError;

const REGION: &str = "AWS_REGION";
const ENDPOINT: &str = "AWS_ENDPOINT_URL";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(2);

/// An AWS service that the functions call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    DynamoDb,
    S3,
    Sqs,
}

impl Service {
    /// Suffix of the service's `AWS_ENDPOINT_URL_…` variable.
    fn variable_suffix(self) -> &'static str {
        match self {
            Self::DynamoDb => "DYNAMODB",
            Self::S3 => "S3",
            Self::Sqs => "SQS",
        }
    }
}

/// Builds the client configuration of a service from environment variables. If `AWS_ENDPOINT_URL_…`
/// or `AWS_ENDPOINT_URL` is set, the client uses this endpoint outside AWS.
///
/// # Errors
/// Returns [`SettingsError::Missing`] if no region is set. Missing credentials cause an error only
/// when the first request is signed.
pub fn from_environment(
    service: Service,
    read_variable: impl Fn(&str) -> Option<String>,
) -> Result<SdkConfig, SettingsError> {
    let read_nonempty = |name: &str| read_variable(name).filter(|value| !value.is_empty());
    let region = read_nonempty(REGION).ok_or(SettingsError::Missing { name: REGION })?;
    let service_endpoint_name = format!("{ENDPOINT}_{}", service.variable_suffix());
    let endpoint_url = read_nonempty(&service_endpoint_name).or_else(|| read_nonempty(ENDPOINT));
    let credentials = EnvironmentVariableCredentialsProvider::new();
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(region))
        .credentials_provider(SharedCredentialsProvider::new(credentials));
    config.set_endpoint_url(endpoint_url);
    Ok(config.build())
}

/// Builds a client configuration for an endpoint outside AWS, such as the local stack or an
/// emulator.
#[must_use]
pub fn for_endpoint(
    url: &str,
    region: &'static str,
    access_key: &str,
    secret_key: &str,
) -> SdkConfig {
    let credentials = Credentials::new(access_key, secret_key, None, None, "endpoint");
    SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(region))
        .endpoint_url(url)
        .credentials_provider(SharedCredentialsProvider::new(credentials))
        .build()
}

/// `attempt_timeout` limits each attempt of a request, not all attempts together.
pub(crate) fn timeouts(attempt_timeout: Duration) -> TimeoutConfig {
    TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(attempt_timeout)
        .build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn endpoint(service: Service, set: &[(&str, &str)]) -> Option<String> {
        let region = (REGION, "eu-central-1");
        let variable = |name: &str| {
            let mut all = set.iter().chain([&region]);
            all.find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
        };
        let config = from_environment(service, variable).unwrap();
        assert_eq!(config.region().map(AsRef::as_ref), Some("eu-central-1"));
        config.endpoint_url().map(str::to_owned)
    }

    #[test]
    fn endpoint_variables_override_the_default_endpoint() {
        let all = ("AWS_ENDPOINT_URL", "http://all");
        let s3 = ("AWS_ENDPOINT_URL_S3", "http://s3");
        assert_eq!(endpoint(Service::S3, &[]), None);
        assert_eq!(endpoint(Service::S3, &[all]).as_deref(), Some("http://all"));
        assert_eq!(endpoint(Service::S3, &[all, s3]).as_deref(), Some("http://s3"));
        assert_eq!(endpoint(Service::DynamoDb, &[s3]), None);
        assert_eq!(endpoint(Service::Sqs, &[("AWS_ENDPOINT_URL", "")]), None);
    }

    #[test]
    fn names_the_missing_region_variable() {
        let error = from_environment(Service::Sqs, |_| None).unwrap_err();
        assert_eq!(error, SettingsError::Missing { name: "AWS_REGION" });
    }
}
