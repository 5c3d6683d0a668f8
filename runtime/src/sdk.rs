//! What Lambda's environment says of AWS: the region, the credentials, endpoints that are not AWS.
//!
//! A function has its credentials in variables, for as long as it lives. The SDK's own chain would
//! look for files first, and brings half a megabyte of code for profiles, STS and instance metadata.

use aws_config::environment::EnvironmentVariableCredentialsProvider;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_sdk_dynamodb::config::{Credentials, SharedCredentialsProvider};

use crate::settings::SettingsError;

const REGION: &str = "AWS_REGION";
const ENDPOINT: &str = "AWS_ENDPOINT_URL";

/// A service, as variables name it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Service {
    /// `DynamoDB`.
    DynamoDb,
    /// S3.
    S3,
    /// SQS.
    Sqs,
}

impl Service {
    fn name(self) -> &'static str {
        match self {
            Self::DynamoDb => "DYNAMODB",
            Self::S3 => "S3",
            Self::Sqs => "SQS",
        }
    }
}

/// The configuration of a client for a service; with an endpoint if it is to talk to something that
/// is not AWS.
///
/// # Errors
/// [`SettingsError::Missing`] without a region. Credentials are looked for when a request is signed.
pub fn from_environment(
    service: Service,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<SdkConfig, SettingsError> {
    let set = |name: &str| variable(name).filter(|value| !value.is_empty());
    let region = set(REGION).ok_or(SettingsError::Missing { name: REGION })?;
    let own = format!("{ENDPOINT}_{}", service.name());
    let mut config = SdkConfig::builder()
        .behavior_version(BehaviorVersion::latest())
        .region(Region::new(region))
        .credentials_provider(SharedCredentialsProvider::new(
            EnvironmentVariableCredentialsProvider::new(),
        ));
    config.set_endpoint_url(set(&own).or_else(|| set(ENDPOINT)));
    Ok(config.build())
}

/// The configuration of a client for an endpoint that is not AWS: the local cloud's, an emulator's, or
/// a test's.
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
    fn a_service_goes_to_aws_unless_told_otherwise() {
        let all = ("AWS_ENDPOINT_URL", "http://all");
        let s3 = ("AWS_ENDPOINT_URL_S3", "http://s3");
        assert_eq!(endpoint(Service::S3, &[]), None);
        assert_eq!(endpoint(Service::S3, &[all]).as_deref(), Some("http://all"));
        assert_eq!(endpoint(Service::S3, &[all, s3]).as_deref(), Some("http://s3"));
        assert_eq!(endpoint(Service::DynamoDb, &[s3]), None);
        assert_eq!(endpoint(Service::Sqs, &[("AWS_ENDPOINT_URL", "")]), None);
    }

    #[test]
    fn without_a_region_the_variable_is_named() {
        let error = from_environment(Service::Sqs, |_| None).unwrap_err();
        assert_eq!(error, SettingsError::Missing { name: "AWS_REGION" });
    }
}
