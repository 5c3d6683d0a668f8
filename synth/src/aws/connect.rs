//! Clients for AWS or an AWS emulator.

use std::time::Duration;

use aws_config::environment::{
    EnvironmentVariableCredentialsProvider, EnvironmentVariableRegionProvider,
};
use aws_config::meta::credentials::CredentialsProviderChain;
use aws_config::meta::region::RegionProviderChain;
use aws_config::profile::{ProfileFileCredentialsProvider, ProfileFileRegionProvider};
use aws_config::timeout::TimeoutConfig;
use aws_config::{BehaviorVersion, Region, SdkConfig};
use aws_credential_types::Credentials;
use aws_credential_types::provider::SharedCredentialsProvider;
use aws_sdk_sts::operation::get_caller_identity::GetCallerIdentityOutput;
use cellar_stacks::Config;

use super::error::AwsError;

const EMULATOR_REGION: &str = "us-east-1";
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// Timeout for each attempt to send a request. It is long enough to upload several MB over a slow
/// connection.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(180);
/// Emulators respond faster than AWS.
const EMULATOR_POLL: Duration = Duration::from_millis(200);
/// Access key id and secret key for an emulator. By convention, emulators accept this value for
/// both.
const EMULATOR_KEY: &str = "test";
const DEFAULT_PARTITION: &str = "aws";

#[derive(Debug, Clone)]
pub(crate) struct Aws {
    pub(super) cloudformation: aws_sdk_cloudformation::Client,
    pub(super) dynamodb: aws_sdk_dynamodb::Client,
    pub(super) s3: aws_sdk_s3::Client,
    pub(super) sqs: aws_sdk_sqs::Client,
    /// SDK configuration, from which other clients are created, such as those of the
    /// `cellar-runtime` crate.
    pub(crate) config: SdkConfig,
    /// Credentials for signing requests that are sent without the SDK.
    pub(super) credentials: Option<SharedCredentialsProvider>,
    pub(crate) account: String,
    pub(crate) region: String,
    /// AWS partition, such as `aws`, `aws-cn` or `aws-eusc`.
    pub(super) partition: String,
    /// URL of the emulator, or `None` for AWS.
    pub(super) endpoint_url: Option<String>,
}

impl Aws {
    /// The credentials come from the standard AWS provider chain. The region comes from the same
    /// chain unless the configuration sets it.
    pub(crate) async fn connect(
        config: &Config,
        endpoint_url: Option<&str>,
    ) -> Result<Self, AwsError> {
        let sdk_config = load_sdk_config(config.region.as_deref(), endpoint_url).await;
        let region = sdk_config.region().ok_or(AwsError::NoRegion)?.to_string();
        let caller = get_caller_identity(&sdk_config, &region, endpoint_url).await?;
        let account =
            caller.account().ok_or(AwsError::IncompleteReply { missing: "an account" })?;
        let partition = caller.arn().and_then(partition_of_arn).unwrap_or(DEFAULT_PARTITION);
        let s3_config = aws_sdk_s3::config::Builder::from(&sdk_config)
            .force_path_style(endpoint_url.is_some())
            .build();
        Ok(Self {
            cloudformation: aws_sdk_cloudformation::Client::new(&sdk_config),
            dynamodb: aws_sdk_dynamodb::Client::new(&sdk_config),
            s3: aws_sdk_s3::Client::from_conf(s3_config),
            sqs: aws_sdk_sqs::Client::new(&sdk_config),
            credentials: sdk_config.credentials_provider(),
            config: sdk_config,
            account: account.to_owned(),
            region,
            partition: partition.to_owned(),
            endpoint_url: endpoint_url.map(|url| url.trim_end_matches('/').to_owned()),
        })
    }

    pub(crate) fn account_and_region(&self) -> String {
        format!("account {}, {}", self.account, self.region)
    }

    /// Creates clients for an emulator without connecting to it.
    #[cfg(test)]
    pub(super) fn at_endpoint(endpoint_url: &str) -> Self {
        let credentials = Credentials::new(EMULATOR_KEY, EMULATOR_KEY, None, None, "test");
        let config = SdkConfig::builder()
            .behavior_version(BehaviorVersion::latest())
            .region(Region::new(EMULATOR_REGION))
            .credentials_provider(SharedCredentialsProvider::new(credentials))
            .build();
        Self {
            cloudformation: aws_sdk_cloudformation::Client::new(&config),
            dynamodb: aws_sdk_dynamodb::Client::new(&config),
            s3: aws_sdk_s3::Client::new(&config),
            sqs: aws_sdk_sqs::Client::new(&config),
            credentials: config.credentials_provider(),
            config,
            account: "000000000000".to_owned(),
            region: EMULATOR_REGION.to_owned(),
            partition: "aws".to_owned(),
            endpoint_url: Some(endpoint_url.to_owned()),
        }
    }

    pub(super) fn domain(&self) -> &'static str {
        match self.partition.as_str() {
            "aws-cn" => "amazonaws.com.cn",
            "aws-eusc" => "amazonaws.eu",
            _ => "amazonaws.com",
        }
    }

    pub(crate) fn alarm_arn(&self, name: &str) -> String {
        let Self { partition, region, account, .. } = self;
        format!("arn:{partition}:cloudwatch:{region}:{account}:alarm:{name}")
    }

    pub(crate) fn is_emulator(&self) -> bool {
        self.endpoint_url.is_some()
    }

    /// Returns the polling interval. It is `aws_interval` for AWS and shorter for an emulator.
    pub(crate) fn poll_interval(&self, aws_interval: Duration) -> Duration {
        if self.is_emulator() { EMULATOR_POLL } else { aws_interval }
    }

    /// Returns the URL without a trailing slash, because users append paths such as `/v1/health`. An
    /// emulator serves function URLs under its own URL.
    pub(crate) fn reachable_url(&self, function_url: &str) -> String {
        let host = function_url.strip_prefix("https://").unwrap_or_default();
        match (&self.endpoint_url, host.split_once(".lambda-url.")) {
            (Some(endpoint), Some((id, _))) => format!("{endpoint}/_aws/lambda-url/{id}"),
            _ => function_url.trim_end_matches('/').to_owned(),
        }
    }
}

/// This is the first request of a command, so a failure may be caused by a wrong region or
/// endpoint.
async fn get_caller_identity(
    sdk_config: &SdkConfig,
    region: &str,
    endpoint_url: Option<&str>,
) -> Result<GetCallerIdentityOutput, AwsError> {
    let sts = aws_sdk_sts::Client::new(sdk_config);
    sts.get_caller_identity().send().await.map_err(|error| {
        let address = match endpoint_url {
            Some(url) => format!("at {url}"),
            None => format!("in region {region}"),
        };
        AwsError::from_sdk("get the caller identity", &error).with_address(address)
    })
}

fn partition_of_arn(arn: &str) -> Option<&str> {
    arn.split(':').nth(1)
}

async fn load_sdk_config(region: Option<&str>, endpoint_url: Option<&str>) -> SdkConfig {
    let timeouts = TimeoutConfig::builder()
        .connect_timeout(CONNECT_TIMEOUT)
        .operation_attempt_timeout(ATTEMPT_TIMEOUT)
        .build();
    let mut loader = aws_config::defaults(BehaviorVersion::latest()).timeout_config(timeouts);
    if let Some(region) = region {
        loader = loader.region(Region::new(region.to_owned()));
    }
    if let Some(url) = endpoint_url {
        loader = loader.endpoint_url(url).credentials_provider(credentials_for_emulator());
        if region.is_none() {
            loader = loader.region(region_for_emulator());
        }
    }
    loader.load().await
}

/// Returns whether the environment variable AWS_PROFILE names a profile. Only then does a profile
/// apply to an emulator, because the default profile may require a sign-in to AWS.
fn has_named_profile() -> bool {
    std::env::var_os("AWS_PROFILE").is_some_and(|profile| !profile.is_empty())
}

fn credentials_for_emulator() -> CredentialsProviderChain {
    let environment = EnvironmentVariableCredentialsProvider::new();
    let mut chain = CredentialsProviderChain::first_try("Environment", environment);
    if has_named_profile() {
        chain = chain.or_else("Profile", ProfileFileCredentialsProvider::builder().build());
    }
    let (key, provider) = (EMULATOR_KEY, "emulator");
    chain.or_else("Emulator", Credentials::new(key, key, None, None, provider))
}

fn region_for_emulator() -> RegionProviderChain {
    let mut chain = RegionProviderChain::first_try(EnvironmentVariableRegionProvider::new());
    if has_named_profile() {
        chain = chain.or_else(ProfileFileRegionProvider::new());
    }
    chain.or_else(Region::new(EMULATOR_REGION))
}
