//! The names that a local deployment gives to resources, and the values that it gives to
//! references.

use cellar_stacks::Lookup;
use cellar_stacks::template::Template;
use serde_json::Value;

const QUEUE: &str = "AWS::SQS::Queue";
const BUCKET: &str = "AWS::S3::Bucket";
const REGION: &str = "local";
const ACCOUNT: &str = "000000000000";

/// The ARN of a table with this name.
pub(crate) fn table_arn(name: &str) -> String {
    format!("arn:aws:dynamodb:{REGION}:{ACCOUNT}:table/{name}")
}

/// The ARN of a bucket with this name, or of what is below it.
pub(crate) fn bucket_arn(name: &str) -> String {
    format!("arn:aws:s3:::{name}")
}

/// The ARN of a queue with this name.
pub(crate) fn queue_arn(name: &str) -> String {
    format!("arn:aws:sqs:{REGION}:{ACCOUNT}:{name}")
}

/// Who calls a service when a function does that has taken on a role; both by their names.
pub(crate) fn session_arn(role: &str, function: &str) -> String {
    format!("arn:aws:sts::{ACCOUNT}:assumed-role/{role}/{function}")
}

/// The logical id that a `Ref` or `Fn::GetAtt` names.
pub(crate) fn target(value: &Value) -> Option<&str> {
    let attribute = || value.get("Fn::GetAtt")?.get(0);
    value.get("Ref").or_else(attribute)?.as_str()
}

/// Names and attributes of a local deployment.
pub(crate) struct Names<'a> {
    pub(crate) template: &'a Template,
    pub(crate) stack: &'a str,
    /// The URL of the API, with a slash at its end.
    pub(crate) url: String,
}

impl Names<'_> {
    /// The physical name of a resource: as CloudFormation would, of stack and logical id. S3 knows
    /// no capitals.
    pub(crate) fn physical(&self, logical_id: &str) -> String {
        let name = format!("{}-{logical_id}", self.stack);
        let resource = self.template.resource(logical_id);
        if resource.is_some_and(|resource| resource.resource_type == BUCKET) {
            return name.to_lowercase();
        }
        name
    }

    /// The URL of a queue: nothing listens there, it only says which queue is meant.
    pub(crate) fn queue_url(&self, logical_id: &str) -> String {
        format!("https://sqs.{REGION}.localhost/{ACCOUNT}/{}", self.physical(logical_id))
    }

    /// The ARN of a function.
    pub(crate) fn function_arn(&self, logical_id: &str) -> String {
        format!("arn:aws:lambda:{REGION}:{ACCOUNT}:function:{}", self.physical(logical_id))
    }

    /// The ARN of a queue.
    pub(crate) fn queue_arn(&self, logical_id: &str) -> String {
        queue_arn(&self.physical(logical_id))
    }

    /// The ARN of a table's stream, as policies have it: its own name is the time of its making, which no
    /// policy needs to know.
    pub(crate) fn stream_arn(&self, logical_id: &str) -> String {
        table_arn(&self.physical(logical_id)) + "/stream/local"
    }

    fn is_queue(&self, logical_id: &str) -> bool {
        let resource = self.template.resource(logical_id);
        resource.is_some_and(|resource| resource.resource_type == QUEUE)
    }

    fn has(&self, logical_id: &str) -> bool {
        self.template.resource(logical_id).is_some()
    }
}

impl Lookup for Names<'_> {
    fn reference(&self, logical_id: &str) -> Option<String> {
        match logical_id {
            "AWS::StackName" => Some(self.stack.to_owned()),
            "AWS::Region" => Some(REGION.to_owned()),
            "AWS::AccountId" => Some(ACCOUNT.to_owned()),
            "AWS::Partition" => Some("aws".to_owned()),
            "AWS::URLSuffix" => Some("localhost".to_owned()),
            logical_id if self.is_queue(logical_id) => Some(self.queue_url(logical_id)),
            logical_id => self.has(logical_id).then(|| self.physical(logical_id)),
        }
    }

    fn attribute(&self, logical_id: &str, attribute: &str) -> Option<String> {
        let resource = self.template.resource(logical_id)?;
        let name = self.physical(logical_id);
        match (resource.resource_type.as_str(), attribute) {
            ("AWS::Lambda::Url", "FunctionUrl") => Some(self.url.clone()),
            (QUEUE, "QueueName") => Some(name),
            (QUEUE, "QueueUrl") => Some(self.queue_url(logical_id)),
            (QUEUE, "Arn") => Some(self.queue_arn(logical_id)),
            (BUCKET, "Arn") => Some(bucket_arn(&name)),
            ("AWS::DynamoDB::Table", "Arn") => Some(table_arn(&name)),
            ("AWS::DynamoDB::Table", "StreamArn") => Some(self.stream_arn(logical_id)),
            ("AWS::Lambda::Function", "Arn") => Some(self.function_arn(logical_id)),
            ("AWS::IAM::Role", "Arn") => Some(format!("arn:aws:iam::{ACCOUNT}:role/{name}")),
            ("AWS::Logs::LogGroup", "Arn") => {
                Some(format!("arn:aws:logs:{REGION}:{ACCOUNT}:log-group:{name}:*"))
            }
            (_, "Arn") => Some(format!("arn:aws:local:::{name}")),
            _ => None,
        }
    }
}
