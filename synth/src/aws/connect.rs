//! Who deploys, and where.

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
use cellar_stacks::Config;

use super::AwsError;

/// The region of an emulator, if none is configured.
const EMULATOR_REGION: &str = "us-east-1";
/// How long a connection to AWS may take.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long one attempt of a call may take, an upload of some MB over a slow line included: nobody waits
/// for ever for a server that takes a request and never answers.
const ATTEMPT_TIMEOUT: Duration = Duration::from_secs(180);
/// How often an emulator is asked, which is faster than AWS.
const EMULATOR_POLL: Duration = Duration::from_millis(200);
/// The credentials for an emulator, if nobody names others: what emulators take for granted.
const EMULATOR_KEY: &str = "test";

/// Clients for one account and region.
#[derive(Debug, Clone)]
pub(crate) struct Aws {
    pub(super) cloudformation: aws_sdk_cloudformation::Client,
    pub(super) dynamodb: aws_sdk_dynamodb::Client,
    pub(super) s3: aws_sdk_s3::Client,
    pub(super) sqs: aws_sdk_sqs::Client,
    /// What clients are made of that behave as those of the functions.
    pub(crate) config: SdkConfig,
    /// What signs the calls that no SDK makes.
    pub(super) credentials: Option<SharedCredentialsProvider>,
    /// The account's number.
    pub(crate) account: String,
    /// The region's name.
    pub(crate) region: String,
    /// `aws`, `aws-cn`, `aws-us-gov`.
    pub(super) partition: String,
    /// Another place than AWS itself.
    pub(super) endpoint_url: Option<String>,
}

impl Aws {
    /// Finds credentials, and unless the configuration names it a region, as all tools of AWS do, and
    /// asks whose they are.
    ///
    /// # Errors
    /// [`AwsError`], before anything was changed.
    pub(crate) async fn connect(
        config: &Config,
        endpoint_url: Option<&str>,
    ) -> Result<Self, AwsError> {
        let config = load(config.region.as_deref(), endpoint_url).await;
        let region = config.region().ok_or(AwsError::NoRegion)?.to_string();
        let sts = aws_sdk_sts::Client::new(&config);
        let caller = sts.get_caller_identity().send().await;
        let caller = caller.map_err(|error| {
            let error = AwsError::of("ask AWS who you are", &error);
            error.looked_for(|| match endpoint_url {
                Some(url) => format!("at {url}"),
                None => format!("in the region {region}"),
            })
        })?;
        let account = caller.account().ok_or(AwsError::Reply { missing: "an account" })?;
        // arn:PARTITION:sts::ACCOUNT:assumed-role/…
        let partition = caller.arn().and_then(|arn| arn.split(':').nth(1)).unwrap_or("aws");
        let s3 = aws_sdk_s3::config::Builder::from(&config)
            .force_path_style(endpoint_url.is_some())
            .build();
        Ok(Self {
            cloudformation: aws_sdk_cloudformation::Client::new(&config),
            dynamodb: aws_sdk_dynamodb::Client::new(&config),
            s3: aws_sdk_s3::Client::from_conf(s3),
            sqs: aws_sdk_sqs::Client::new(&config),
            credentials: config.credentials_provider(),
            config,
            account: account.to_owned(),
            region,
            partition: partition.to_owned(),
            endpoint_url: endpoint_url.map(|url| url.trim_end_matches('/').to_owned()),
        })
    }

    /// The account and the region, for people.
    pub(crate) fn place(&self) -> String {
        format!("account {}, {}", self.account, self.region)
    }

    /// Clients of a service at this URL, without asking anybody who they are for.
    #[cfg(test)]
    pub(super) fn at(endpoint_url: &str) -> Self {
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

    /// The domain below which the services of its partition are.
    pub(super) fn domain(&self) -> &'static str {
        if self.partition == "aws-cn" { "amazonaws.com.cn" } else { "amazonaws.com" }
    }

    /// The ARN of an alarm of this account and region.
    pub(crate) fn alarm_arn(&self, name: &str) -> String {
        let Self { partition, region, account, .. } = self;
        format!("arn:{partition}:cloudwatch:{region}:{account}:alarm:{name}")
    }

    /// Whether it is not AWS itself.
    pub(crate) fn is_emulator(&self) -> bool {
        self.endpoint_url.is_some()
    }

    /// How often to ask for something that AWS is asked for at this interval.
    pub(crate) fn poll_interval(&self, of_aws: Duration) -> Duration {
        if self.is_emulator() { EMULATOR_POLL } else { of_aws }
    }

    /// The URL of a function as it is reached from here: an emulator has no domain of its own, and
    /// answers below its endpoint.
    pub(crate) fn reached_url(&self, function_url: &str) -> String {
        let host = function_url.strip_prefix("https://").unwrap_or_default();
        match (&self.endpoint_url, host.split_once(".lambda-url.")) {
            (Some(endpoint), Some((id, _))) => format!("{endpoint}/_aws/lambda-url/{id}/"),
            _ => function_url.to_owned(),
        }
    }
}

async fn load(region: Option<&str>, endpoint_url: Option<&str>) -> SdkConfig {
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

/// Whether a profile was named. One that is only there by default is for AWS itself: an emulator needs
/// no sign-in.
fn names_profile() -> bool {
    std::env::var_os("AWS_PROFILE").is_some_and(|profile| !profile.is_empty())
}

/// Those that somebody named, in the environment or as a profile; else the emulator's own.
fn credentials_for_emulator() -> CredentialsProviderChain {
    let environment = EnvironmentVariableCredentialsProvider::new();
    let mut chain = CredentialsProviderChain::first_try("Environment", environment);
    if names_profile() {
        chain = chain.or_else("Profile", ProfileFileCredentialsProvider::builder().build());
    }
    let (key, provider) = (EMULATOR_KEY, "emulator");
    chain.or_else("Emulator", Credentials::new(key, key, None, None, provider))
}

/// The same of the region.
fn region_for_emulator() -> RegionProviderChain {
    let mut chain = RegionProviderChain::first_try(EnvironmentVariableRegionProvider::new());
    if names_profile() {
        chain = chain.or_else(ProfileFileRegionProvider::new());
    }
    chain.or_else(Region::new(EMULATOR_REGION))
}
