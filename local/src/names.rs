//! Physical names of the resources in a local deployment, and the resolution of references to them.

use cellar_stacks::template::Template;
use cellar_stacks::{DeployedValues, FUNCTION_URL_ORIGINS};
use serde_json::Value;

const QUEUE: &str = "AWS::SQS::Queue";
const BUCKET: &str = "AWS::S3::Bucket";
pub(crate) const REGION: &str = "local";
const ACCOUNT: &str = "000000000000";

pub(crate) fn table_arn(table_name: &str) -> String {
    format!("arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{table_name}")
}

pub(crate) fn bucket_arn(bucket_name: &str) -> String {
    format!("arn:aws:s3:::{bucket_name}")
}

pub(crate) fn queue_arn(queue_name: &str) -> String {
    format!("arn:aws:sqs:{REGION}:{ACCOUNT}:{queue_name}")
}

pub(crate) fn session_arn(role_name: &str, function_name: &str) -> String {
    format!("arn:aws:sts::{ACCOUNT}:assumed-role/{role_name}/{function_name}")
}

/// Returns how the template writes the origins of all function URLs, for the local region.
pub(crate) fn function_url_origins() -> String {
    FUNCTION_URL_ORIGINS.replace("${AWS::Region}", REGION)
}

/// Returns the logical id to which a `Ref` or `Fn::GetAtt` refers.
pub(crate) fn referenced_id(value: &Value) -> Option<&str> {
    let logical_id = match value.get("Ref") {
        Some(logical_id) => logical_id,
        None => value.get("Fn::GetAtt")?.get(0)?,
    };
    logical_id.as_str()
}

pub(crate) struct Names<'a> {
    pub(crate) template: &'a Template,
    pub(crate) stack: &'a str,
    /// API URL, which ends with a slash.
    pub(crate) url: String,
}

impl Names<'_> {
    /// Returns a resource's physical name. Like in CloudFormation, the name consists of the stack
    /// name and the logical id. Bucket names are lower case.
    pub(crate) fn physical_name(&self, logical_id: &str) -> String {
        let name = format!("{}-{logical_id}", self.stack);
        let resource = self.template.resource(logical_id);
        if resource.is_some_and(|resource| resource.resource_type == BUCKET) {
            return name.to_lowercase();
        }
        name
    }

    /// Returns the URL that identifies a queue. It is only an identifier: no server listens at this
    /// URL.
    pub(crate) fn queue_url(&self, logical_id: &str) -> String {
        format!("https://sqs.{REGION}.localhost/{ACCOUNT}/{}", self.physical_name(logical_id))
    }

    pub(crate) fn function_arn(&self, logical_id: &str) -> String {
        format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{}", self.physical_name(logical_id))
    }

    pub(crate) fn queue_arn(&self, logical_id: &str) -> String {
        queue_arn(&self.physical_name(logical_id))
    }

    /// Returns a table's change stream ARN in the form used in policies. The real ARN ends with the
    /// stream's creation time, which policies do not contain.
    pub(crate) fn stream_arn(&self, logical_id: &str) -> String {
        table_arn(&self.physical_name(logical_id)) + "/stream/local"
    }

    fn is_queue(&self, logical_id: &str) -> bool {
        let resource = self.template.resource(logical_id);
        resource.is_some_and(|resource| resource.resource_type == QUEUE)
    }

    fn has_resource(&self, logical_id: &str) -> bool {
        self.template.resource(logical_id).is_some()
    }
}

impl DeployedValues for Names<'_> {
    fn reference(&self, logical_id: &str) -> Option<String> {
        match logical_id {
            "AWS::StackName" => Some(self.stack.to_owned()),
            "AWS::Region" => Some(REGION.to_owned()),
            "AWS::AccountId" => Some(ACCOUNT.to_owned()),
            "AWS::Partition" => Some("aws".to_owned()),
            "AWS::URLSuffix" => Some("localhost".to_owned()),
            logical_id if self.is_queue(logical_id) => Some(self.queue_url(logical_id)),
            logical_id if self.has_resource(logical_id) => Some(self.physical_name(logical_id)),
            _ => None,
        }
    }

    fn attribute(&self, logical_id: &str, attribute: &str) -> Option<String> {
        let resource = self.template.resource(logical_id)?;
        let physical_name = self.physical_name(logical_id);
        match (resource.resource_type.as_str(), attribute) {
            ("AWS::Lambda::Url", "FunctionUrl") => Some(self.url.clone()),
            (QUEUE, "QueueName") => Some(physical_name),
            (QUEUE, "QueueUrl") => Some(self.queue_url(logical_id)),
            (QUEUE, "Arn") => Some(self.queue_arn(logical_id)),
            (BUCKET, "Arn") => Some(bucket_arn(&physical_name)),
            ("AWS::DynamoDB::Table", "Arn") => Some(table_arn(&physical_name)),
            ("AWS::DynamoDB::Table", "StreamArn") => Some(self.stream_arn(logical_id)),
            ("AWS::Lambda::Function", "Arn") => Some(self.function_arn(logical_id)),
            ("AWS::IAM::Role", "Arn") => {
                Some(format!("arn:aws:iam::{ACCOUNT}:role/{physical_name}"))
            }
            ("AWS::Logs::LogGroup", "Arn") => {
                Some(format!("arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{physical_name}:*"))
            }
            (_, "Arn") => Some(format!("arn:aws:local:::{physical_name}")),
            _ => None,
        }
    }
}
