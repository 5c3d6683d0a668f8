//! What CloudFormation does to a resource when one of its properties changes: "update requires" in
//! the documentation of each type, for the types that Cellar deploys.

use serde::Serialize;

use super::ResourceType;

/// What becomes of a resource that changes. The later ones are the graver ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Update {
    /// It stays, and is changed.
    InPlace,
    /// It may be replaced: nothing is known of that property, or of that type.
    MayReplace,
    /// A new one is made, and the old one goes, or is left behind if its `UpdateReplacePolicy`
    /// says so.
    Replace,
}

/// What is known of a type.
struct Known {
    /// Properties whose change makes a new resource.
    replace: &'static [&'static str],
    /// Properties that are changed in place.
    in_place: &'static [&'static str],
}

impl ResourceType {
    /// What a change at that path below `Properties` does: names of properties, and in lists the
    /// places, or the keys of elements that have one.
    pub fn update_of(self, path: &[&str]) -> Update {
        match (self, path) {
            // A definition may come or go with an index; another type makes another table.
            (Self::Table, ["AttributeDefinitions", _, _, ..]) => Update::Replace,
            (_, [property, ..]) => self.known().update_of(property),
            (_, []) => Update::MayReplace,
        }
    }

    /// Whether it holds a customer's data.
    pub const fn holds_data(self) -> bool {
        matches!(self, Self::Table | Self::Bucket)
    }

    /// Attributes that have another value once this property has changed, though the resource
    /// stays.
    pub fn attributes_changed_by(self, property: &str) -> &'static [&'static str] {
        match (self, property) {
            // Each stream that is switched on is a new one.
            (Self::Table, "StreamSpecification") => &["StreamArn"],
            _ => &[],
        }
    }

    const fn known(self) -> Known {
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

impl Known {
    fn update_of(&self, property: &str) -> Update {
        if self.replace.contains(&property) {
            Update::Replace
        } else if self.in_place.contains(&property) {
            Update::InPlace
        } else {
            Update::MayReplace
        }
    }
}

const ALARM: Known = Known {
    replace: &["AlarmName"],
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

const DASHBOARD: Known =
    Known { replace: &["DashboardName"], in_place: &["DashboardBody", "Tags"] };

const TOPIC: Known = Known {
    replace: &["FifoTopic", "TopicName"],
    in_place: &["DisplayName", "KmsMasterKeyId", "Subscription", "Tags", "TracingConfig"],
};

const TABLE: Known = Known {
    replace: &["ImportSourceSpecification", "KeySchema", "LocalSecondaryIndexes", "TableName"],
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

const ROLE: Known = Known {
    replace: &["Path", "RoleName"],
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

const EVENT_SOURCE_MAPPING: Known = Known {
    replace: &[
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

const FUNCTION: Known = Known {
    replace: &["FunctionName", "PackageType"],
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

const PERMISSION: Known = Known {
    replace: &[
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

const FUNCTION_URL: Known = Known {
    replace: &["Qualifier", "TargetFunctionArn"],
    in_place: &["AuthType", "Cors", "InvokeMode"],
};

const LOG_GROUP: Known = Known {
    replace: &["LogGroupName"],
    in_place: &[
        "DataProtectionPolicy",
        "FieldIndexPolicies",
        "KmsKeyId",
        "RetentionInDays",
        "Tags",
    ],
};

const BUCKET: Known = Known {
    replace: &["BucketName"],
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

const BUCKET_POLICY: Known = Known { replace: &["Bucket"], in_place: &["PolicyDocument"] };

const QUEUE: Known = Known {
    replace: &["FifoQueue", "QueueName"],
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

const QUEUE_POLICY: Known = Known { replace: &[], in_place: &["PolicyDocument", "Queues"] };

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
            let resource_type = ResourceType::named(&resource.resource_type).unwrap();
            for property in resource.properties.keys() {
                let update = resource_type.update_of(&[property]);
                assert_ne!(update, Update::MayReplace, "{logical_id}.{property}");
            }
        }
    }

    #[test]
    fn no_property_is_in_both_lists() {
        for known in ResourceType::ALL.map(ResourceType::known) {
            assert!(known.replace.iter().all(|property| !known.in_place.contains(property)));
        }
    }

    #[test]
    fn names_and_keys_replace_and_the_rest_does_not() {
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
