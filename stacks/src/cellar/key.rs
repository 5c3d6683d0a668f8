//! Permissions to use the customer's KMS key.
//!
//! A function can use the key only through the AWS services that store the data. It cannot call KMS
//! directly.

use serde_json::{Value, json};

use crate::config::Config;
use crate::constructs::{Role, Statement};
use crate::expression::Expression;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyUse {
    /// Reads and writes table items. DynamoDB calls KMS on behalf of the function.
    Tables,
    /// Reads a table's change stream, which is encrypted with the table's key.
    Stream,
    Bucket,
    Queues,
}

impl KeyUse {
    fn allow_key_statement(self, key_arn: &str) -> Statement {
        let key_resource = [Expression::literal(key_arn)];
        match self {
            // The DynamoDB documentation requires these actions for every role that reads and
            // writes an encrypted table.
            Self::Tables => {
                let actions = [
                    "kms:Decrypt",
                    "kms:DescribeKey",
                    "kms:Encrypt",
                    "kms:GenerateDataKey",
                    "kms:ReEncryptFrom",
                    "kms:ReEncryptTo",
                ];
                Statement::allow("KeyOfTables", actions, key_resource)
                    .only_if(called_via_service("dynamodb"))
            }
            Self::Stream => Statement::allow("KeyOfStream", ["kms:Decrypt"], key_resource)
                .only_if(called_via_service("dynamodb")),
            Self::Bucket => {
                let actions = ["kms:Decrypt", "kms:GenerateDataKey"];
                Statement::allow("KeyOfBucket", actions, key_resource)
                    .only_if(called_via_service("s3"))
            }
            // A role that only sends messages needs `kms:Decrypt` too, because SQS reuses each data
            // key for several minutes.
            Self::Queues => {
                let actions = ["kms:Decrypt", "kms:GenerateDataKey"];
                Statement::allow("KeyOfQueues", actions, key_resource)
                    .only_if(called_via_service("sqs"))
            }
        }
    }
}

/// Returns a policy condition that allows requests to KMS only from one AWS service in the stack's
/// region.
fn called_via_service(service: &str) -> Value {
    let service_host =
        Expression::substitution(format!("{service}.${{AWS::Region}}.amazonaws.com"));
    json!({ "StringEquals": { "kms:ViaService": Value::from(service_host) } })
}

/// No-op if no customer KMS key is configured.
pub(super) fn with_key_policy(role: Role, config: &Config, key_uses: &[KeyUse]) -> Role {
    let Some(key_arn) = config.encryption.key() else { return role };
    let statements: Vec<Statement> =
        key_uses.iter().map(|key_use| key_use.allow_key_statement(key_arn)).collect();
    role.policy("key", statements)
}
