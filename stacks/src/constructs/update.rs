//! Determines how a changed property affects the resource, for the resource types that Cellar
//! deploys. The source is "Update requires" in the CloudFormation documentation.

use serde::Serialize;

use super::resource_type::ResourceType;

/// How a change affects a resource. The variants are in order of severity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    InPlace,
    /// The resource may be replaced. This is the effect of changes to unknown properties and
    /// resource types.
    MayReplace,
    /// A new resource replaces the old one. The old resource is deleted, or retained if its
    /// `UpdateReplacePolicy` is `Retain`.
    Replace,
}

struct PropertyUpdates {
    replacing: &'static [&'static str],
    in_place: &'static [&'static str],
}

impl ResourceType {
    /// Returns how a change at `path` under `Properties` affects the resource. A path consists of
    /// property names, list indices and keys of list elements.
    pub fn update_of(self, path: &[&str]) -> Update {
        match (self, path) {
            // Adding or removing an index adds or removes attribute definitions without replacing
            // the table. Changing the type of a key replaces the table.
            (Self::Table, ["AttributeDefinitions", _, _, ..]) => Update::Replace,
            (_, [property, ..]) => self.property_updates().update_of(property),
            (_, []) => Update::MayReplace,
        }
    }

    /// Returns whether resources of this type contain customer data.
    pub const fn holds_data(self) -> bool {
        matches!(self, Self::Table | Self::Bucket)
    }

    /// Returns the attributes whose values change when `property` is updated in place.
    pub fn attributes_changed_by(self, property: &str) -> &'static [&'static str] {
        match (self, property) {
            // DynamoDB creates a change stream with a different ARN if the change stream is
            // disabled and enabled again.
            (Self::Table, "StreamSpecification") => &["StreamArn"],
            _ => &[],
        }
    }

    const fn property_updates(self) -> PropertyUpdates {
        match self {
            Self::Alarm => ALARM,
            Self::Table => TABLE,
            Self::Role => ROLE,
            Self::EventSourceMapping => EVENT_SOURCE_MAPPING,
            Self::Function => FUNCTION,
            Self::Permission => PERMISSION,
            Self::FunctionUrl => FUNCTION_URL,
            Self::LogGroup => LOG_GROUP,
            Self::Bucket => BUCKET,
            Self::BucketPolicy => BUCKET_POLICY,
            Self::Queue => QUEUE,
            Self::QueuePolicy => QUEUE_POLICY,
            Self::Dashboard => DASHBOARD,
            Self::Topic => TOPIC,
        }
    }
}

impl PropertyUpdates {
    fn update_of(&self, property: &str) -> Update {
        if self.replacing.contains(&property) {
            Update::Replace
        } else if self.in_place.contains(&property) {
            Update::InPlace
        } else {
            Update::MayReplace
        }
    }
}

const ALARM: PropertyUpdates = PropertyUpdates {
    replacing: &["AlarmName"],
    in_place: &[
        "ActionsEnabled",
        "AlarmActions",
        "AlarmDescription",
        "ComparisonOperator",
        "DatapointsToAlarm",
        "Dimensions",
        "EvaluateLowSampleCountPercentile",
        "EvaluationPeriods",
        "ExtendedStatistic",
        "InsufficientDataActions",
        "MetricName",
        "Metrics",
        "Namespace",
        "OKActions",
        "Period",
        "Statistic",
        "Tags",
        "Threshold",
        "ThresholdMetricId",
        "TreatMissingData",
        "Unit",
    ],
};

const DASHBOARD: PropertyUpdates =
    PropertyUpdates { replacing: &["DashboardName"], in_place: &["DashboardBody", "Tags"] };

const TOPIC: PropertyUpdates = PropertyUpdates {
    replacing: &["FifoTopic", "TopicName"],
    in_place: &["DisplayName", "KmsMasterKeyId", "Subscription", "Tags", "TracingConfig"],
};

const TABLE: PropertyUpdates = PropertyUpdates {
    replacing: &["ImportSourceSpecification", "KeySchema", "LocalSecondaryIndexes", "TableName"],
    in_place: &[
        "AttributeDefinitions",
        "BillingMode",
        "ContributorInsightsSpecification",
        "DeletionProtectionEnabled",
        "GlobalSecondaryIndexes",
        "KinesisStreamSpecification",
        "OnDemandThroughput",
        "PointInTimeRecoverySpecification",
        "ProvisionedThroughput",
        "ResourcePolicy",
        "SSESpecification",
        "StreamSpecification",
        "TableClass",
        "Tags",
        "TimeToLiveSpecification",
        "WarmThroughput",
    ],
};

const ROLE: PropertyUpdates = PropertyUpdates {
    replacing: &["Path", "RoleName"],
    in_place: &[
        "AssumeRolePolicyDocument",
        "Description",
        "ManagedPolicyArns",
        "MaxSessionDuration",
        "PermissionsBoundary",
        "Policies",
        "Tags",
    ],
};

const EVENT_SOURCE_MAPPING: PropertyUpdates = PropertyUpdates {
    replacing: &[
        "EventSourceArn",
        "SelfManagedEventSource",
        "StartingPosition",
        "StartingPositionTimestamp",
    ],
    in_place: &[
        "BatchSize",
        "BisectBatchOnFunctionError",
        "DestinationConfig",
        "Enabled",
        "FilterCriteria",
        "FunctionName",
        "FunctionResponseTypes",
        "KmsKeyArn",
        "MaximumBatchingWindowInSeconds",
        "MaximumRecordAgeInSeconds",
        "MaximumRetryAttempts",
        "MetricsConfig",
        "ParallelizationFactor",
        "ProvisionedPollerConfig",
        "ScalingConfig",
        "SourceAccessConfigurations",
        "Tags",
        "TumblingWindowInSeconds",
    ],
};

const FUNCTION: PropertyUpdates = PropertyUpdates {
    replacing: &["FunctionName", "PackageType"],
    in_place: &[
        "Architectures",
        "Code",
        "CodeSigningConfigArn",
        "DeadLetterConfig",
        "Description",
        "Environment",
        "EphemeralStorage",
        "FileSystemConfigs",
        "Handler",
        "ImageConfig",
        "KmsKeyArn",
        "Layers",
        "LoggingConfig",
        "MemorySize",
        "RecursiveLoop",
        "ReservedConcurrentExecutions",
        "Role",
        "Runtime",
        "RuntimeManagementConfig",
        "SnapStart",
        "Tags",
        "Timeout",
        "TracingConfig",
        "VpcConfig",
    ],
};

const PERMISSION: PropertyUpdates = PropertyUpdates {
    replacing: &[
        "Action",
        "EventSourceToken",
        "FunctionName",
        "FunctionUrlAuthType",
        "InvokedViaFunctionUrl",
        "Principal",
        "PrincipalOrgID",
        "SourceAccount",
        "SourceArn",
    ],
    in_place: &[],
};

const FUNCTION_URL: PropertyUpdates = PropertyUpdates {
    replacing: &["Qualifier", "TargetFunctionArn"],
    in_place: &["AuthType", "Cors", "InvokeMode"],
};

const LOG_GROUP: PropertyUpdates = PropertyUpdates {
    replacing: &["LogGroupName"],
    in_place: &[
        "DataProtectionPolicy",
        "FieldIndexPolicies",
        "KmsKeyId",
        "RetentionInDays",
        "Tags",
    ],
};

const BUCKET: PropertyUpdates = PropertyUpdates {
    replacing: &["BucketName"],
    in_place: &[
        "AccelerateConfiguration",
        "AccessControl",
        "AnalyticsConfigurations",
        "BucketEncryption",
        "CorsConfiguration",
        "IntelligentTieringConfigurations",
        "InventoryConfigurations",
        "LifecycleConfiguration",
        "LoggingConfiguration",
        "MetricsConfigurations",
        "NotificationConfiguration",
        "ObjectLockConfiguration",
        "ObjectLockEnabled",
        "OwnershipControls",
        "PublicAccessBlockConfiguration",
        "ReplicationConfiguration",
        "Tags",
        "VersioningConfiguration",
        "WebsiteConfiguration",
    ],
};

const BUCKET_POLICY: PropertyUpdates =
    PropertyUpdates { replacing: &["Bucket"], in_place: &["PolicyDocument"] };

const QUEUE: PropertyUpdates = PropertyUpdates {
    replacing: &["FifoQueue", "QueueName"],
    in_place: &[
        "ContentBasedDeduplication",
        "DeduplicationScope",
        "DelaySeconds",
        "FifoThroughputLimit",
        "KmsDataKeyReusePeriodSeconds",
        "KmsMasterKeyId",
        "MaximumMessageSize",
        "MessageRetentionPeriod",
        "ReceiveMessageWaitTimeSeconds",
        "RedriveAllowPolicy",
        "RedrivePolicy",
        "SqsManagedSseEnabled",
        "Tags",
        "VisibilityTimeout",
    ],
};

const QUEUE_POLICY: PropertyUpdates =
    PropertyUpdates { replacing: &[], in_place: &["PolicyDocument", "Queues"] };

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Architecture, Config, cellar_stack};

    #[test]
    fn every_property_that_cellar_deploys_is_known() {
        let config =
            Config { cors_origins: vec!["https://a.example".to_owned()], ..Config::default() };
        let template = cellar_stack(&config, Architecture::Arm64).unwrap();
        for (logical_id, resource) in template.resources() {
            let resource_type = ResourceType::from_name(&resource.resource_type).unwrap();
            for property in resource.properties.keys() {
                let update = resource_type.update_of(&[property]);
                assert_ne!(update, Update::MayReplace, "{logical_id}.{property}");
            }
        }
    }

    #[test]
    fn no_property_is_in_both_lists() {
        for updates in ResourceType::ALL.map(ResourceType::property_updates) {
            assert!(updates.replacing.iter().all(|property| !updates.in_place.contains(property)));
        }
    }

    #[test]
    fn updates_follow_the_documentation_of_each_type() {
        for (resource_type, path, update) in [
            (ResourceType::Table, &["KeySchema", "0"][..], Update::Replace),
            (ResourceType::Table, &["TableName"], Update::Replace),
            (ResourceType::Table, &["AttributeDefinitions", "S", "AttributeType"], Update::Replace),
            (ResourceType::Table, &["AttributeDefinitions", "S"], Update::InPlace),
            (ResourceType::Table, &["StreamSpecification"], Update::InPlace),
            (ResourceType::Bucket, &["BucketName"], Update::Replace),
            (ResourceType::Queue, &["FifoQueue"], Update::Replace),
            (ResourceType::Function, &["PackageType"], Update::Replace),
            (ResourceType::Function, &["MemorySize"], Update::InPlace),
            (ResourceType::Permission, &["Principal"], Update::Replace),
            (ResourceType::Role, &["Path"], Update::Replace),
            (ResourceType::LogGroup, &["LogGroupName"], Update::Replace),
            (ResourceType::EventSourceMapping, &["EventSourceArn"], Update::Replace),
            (ResourceType::EventSourceMapping, &["StartingPosition"], Update::Replace),
            (ResourceType::FunctionUrl, &["TargetFunctionArn"], Update::Replace),
            (ResourceType::BucketPolicy, &["Bucket"], Update::Replace),
            (ResourceType::QueuePolicy, &["Queues"], Update::InPlace),
            (ResourceType::Alarm, &["AlarmName"], Update::Replace),
            (ResourceType::Alarm, &["NewAndUnknown"], Update::MayReplace),
            (ResourceType::Alarm, &[], Update::MayReplace),
        ] {
            assert_eq!(resource_type.update_of(path), update, "{resource_type} {path:?}");
        }
    }
}
