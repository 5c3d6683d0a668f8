//! Permissions for each resource type: those that CloudFormation needs of the caller to create,
//! read, change and remove such a resource with the properties that Cellar sets.
//!
//! Tables, objects and versions of objects cannot be deleted: the template keeps them, so that a
//! deployment never needs it.

use cellar_stacks::constructs::ResourceType;

use super::names::{Names, arn};

/// Operator, key and value of a condition.
type Condition = (&'static str, &'static str, String);

pub(super) struct Grant {
    pub(super) actions: &'static [&'static str],
    pub(super) resources: Vec<String>,
    pub(super) condition: Option<Condition>,
}

impl Grant {
    pub(super) fn new(actions: &'static [&'static str], resources: Vec<String>) -> Self {
        Self { actions, resources, condition: None }
    }

    fn on(actions: &'static [&'static str], resource: String) -> Self {
        Self::new(actions, vec![resource])
    }

    /// For actions that support no resource.
    fn anywhere(actions: &'static [&'static str]) -> Self {
        Self::on(actions, "*".to_owned())
    }

    fn only_if(self, operator: &'static str, key: &'static str, value: String) -> Self {
        Self { condition: Some((operator, key, value)), ..self }
    }
}

const ALARM: &[&str] = &[
    "cloudwatch:DeleteAlarms",
    "cloudwatch:ListTagsForResource",
    "cloudwatch:PutMetricAlarm",
    "cloudwatch:TagResource",
    "cloudwatch:UntagResource",
];
const DASHBOARD: &[&str] = &[
    "cloudwatch:DeleteDashboards",
    "cloudwatch:GetDashboard",
    "cloudwatch:ListTagsForResource",
    "cloudwatch:PutDashboard",
    "cloudwatch:TagResource",
    "cloudwatch:UntagResource",
];
const TABLE: &[&str] = &[
    "dynamodb:CreateTable",
    "dynamodb:DescribeContinuousBackups",
    "dynamodb:DescribeContributorInsights",
    "dynamodb:DescribeKinesisStreamingDestination",
    "dynamodb:DescribeTable",
    "dynamodb:DescribeTimeToLive",
    "dynamodb:GetResourcePolicy",
    "dynamodb:ListTagsOfResource",
    "dynamodb:TagResource",
    "dynamodb:UntagResource",
    "dynamodb:UpdateContinuousBackups",
    "dynamodb:UpdateTable",
    "dynamodb:UpdateTimeToLive",
];
const ROLE: &[&str] = &[
    "iam:CreateRole",
    "iam:DeleteRole",
    "iam:DeleteRolePolicy",
    "iam:GetRole",
    "iam:GetRolePolicy",
    "iam:ListAttachedRolePolicies",
    "iam:ListRolePolicies",
    "iam:PutRolePolicy",
    "iam:TagRole",
    "iam:UntagRole",
    "iam:UpdateAssumeRolePolicy",
];
const PASS_ROLE: &[&str] = &["iam:PassRole"];
const CHANGE_EVENT_SOURCE: &[&str] = &[
    "lambda:CreateEventSourceMapping",
    "lambda:DeleteEventSourceMapping",
    "lambda:UpdateEventSourceMapping",
];
const EVENT_SOURCE: &[&str] = &[
    "lambda:GetEventSourceMapping",
    "lambda:ListTags",
    "lambda:TagResource",
    "lambda:UntagResource",
];
const FUNCTION: &[&str] = &[
    "lambda:CreateFunction",
    "lambda:DeleteFunction",
    "lambda:GetFunction",
    "lambda:GetFunctionCodeSigningConfig",
    "lambda:GetFunctionConfiguration",
    "lambda:GetFunctionRecursionConfig",
    "lambda:GetRuntimeManagementConfig",
    "lambda:ListTags",
    "lambda:PutFunctionRecursionConfig",
    "lambda:TagResource",
    "lambda:UntagResource",
    "lambda:UpdateFunctionCode",
    "lambda:UpdateFunctionConfiguration",
];
const PERMISSION: &[&str] =
    &["lambda:AddPermission", "lambda:GetPolicy", "lambda:RemovePermission"];
const FUNCTION_URL: &[&str] = &[
    "lambda:CreateFunctionUrlConfig",
    "lambda:DeleteFunctionUrlConfig",
    "lambda:GetFunctionUrlConfig",
    "lambda:UpdateFunctionUrlConfig",
];
const LOG_GROUP: &[&str] = &[
    "logs:AssociateKmsKey",
    "logs:CreateLogGroup",
    "logs:DeleteLogGroup",
    "logs:DeleteRetentionPolicy",
    "logs:DisassociateKmsKey",
    "logs:GetDataProtectionPolicy",
    "logs:ListTagsForResource",
    "logs:PutRetentionPolicy",
    "logs:TagResource",
    "logs:UntagResource",
];
const BUCKET: &[&str] = &[
    "s3:CreateBucket",
    "s3:DeleteBucket",
    "s3:Get*Configuration",
    "s3:GetBucket*",
    "s3:ListBucket",
    "s3:ListTagsForResource",
    "s3:PutBucketCORS",
    "s3:PutBucketOwnershipControls",
    "s3:PutBucketPublicAccessBlock",
    "s3:PutBucketTagging",
    "s3:PutBucketVersioning",
    "s3:PutEncryptionConfiguration",
    "s3:PutLifecycleConfiguration",
    "s3:TagResource",
    "s3:UntagResource",
];
const BUCKET_POLICY: &[&str] =
    &["s3:DeleteBucketPolicy", "s3:GetBucketPolicy", "s3:PutBucketPolicy"];
const QUEUE: &[&str] = &[
    "sqs:CreateQueue",
    "sqs:DeleteQueue",
    "sqs:GetQueueAttributes",
    "sqs:GetQueueUrl",
    "sqs:ListQueueTags",
    "sqs:SetQueueAttributes",
    "sqs:TagQueue",
    "sqs:UntagQueue",
];
const QUEUE_POLICY: &[&str] = &["sqs:GetQueueAttributes", "sqs:SetQueueAttributes"];
const TOPIC: &[&str] = &[
    "sns:CreateTopic",
    "sns:DeleteTopic",
    "sns:GetDataProtectionPolicy",
    "sns:GetTopicAttributes",
    "sns:ListSubscriptionsByTopic",
    "sns:ListTagsForResource",
    "sns:SetTopicAttributes",
    "sns:Subscribe",
    "sns:TagResource",
    "sns:UntagResource",
];

/// Returns the permissions for all resources of a type in a stack.
pub(super) fn resource_grants(resource_type: ResourceType, names: &Names) -> Vec<Grant> {
    let functions = names.arns("lambda", "function:");
    match resource_type {
        ResourceType::Alarm => vec![
            Grant::on(ALARM, names.arns("cloudwatch", "alarm:")),
            Grant::anywhere(&["cloudwatch:DescribeAlarms"]),
        ],
        // CloudFormation names dashboards without the name of the stack in some versions.
        ResourceType::Dashboard => vec![Grant::new(
            DASHBOARD,
            vec![
                names.global_arns("cloudwatch", "dashboard/"),
                super::names::global_arn("cloudwatch", "dashboard/Dashboard-*"),
            ],
        )],
        ResourceType::Table => vec![Grant::on(TABLE, names.arns("dynamodb", "table/"))],
        ResourceType::Role => {
            let roles = names.global_arns("iam", "role/");
            let lambda = "lambda.amazonaws.com".to_owned();
            vec![
                Grant::on(ROLE, roles.clone()),
                Grant::on(PASS_ROLE, roles).only_if("StringEquals", "iam:PassedToService", lambda),
            ]
        }
        ResourceType::EventSourceMapping => vec![
            Grant::on(CHANGE_EVENT_SOURCE, "*".to_owned()).only_if(
                "ArnLike",
                "lambda:FunctionArn",
                functions,
            ),
            Grant::on(EVENT_SOURCE, arn("lambda", "event-source-mapping:*")),
        ],
        ResourceType::Function => vec![Grant::on(FUNCTION, functions)],
        ResourceType::Permission => vec![Grant::on(PERMISSION, functions)],
        ResourceType::FunctionUrl => vec![Grant::on(FUNCTION_URL, functions)],
        ResourceType::LogGroup => vec![
            Grant::on(LOG_GROUP, names.arns("logs", "log-group:")),
            Grant::anywhere(&["logs:DescribeIndexPolicies", "logs:DescribeLogGroups"]),
        ],
        ResourceType::Bucket => vec![Grant::on(BUCKET, names.bucket_arns())],
        ResourceType::BucketPolicy => vec![Grant::on(BUCKET_POLICY, names.bucket_arns())],
        ResourceType::Queue => vec![Grant::on(QUEUE, names.arns("sqs", ""))],
        ResourceType::QueuePolicy => vec![Grant::on(QUEUE_POLICY, names.arns("sqs", ""))],
        ResourceType::Topic => {
            vec![Grant::on(TOPIC, names.arns("sns", "")), Grant::anywhere(&["sns:Unsubscribe"])]
        }
    }
}
