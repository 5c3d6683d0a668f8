//! Permissions of functions for the customer's KMS key. A function can use the key only through the
//! service that stores the data, so a role cannot decrypt anything by itself.

use serde_json::{Value, json};

use crate::config::Config;
use crate::constructs::{Role, Statement};
use crate::expression::Expression;

/// A purpose for which a function needs the KMS key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyUse {
    /// Reading and writing items of a table. DynamoDB calls KMS on behalf of the caller.
    Tables,
    /// Reading the change stream of a table. A change stream is encrypted with the key of its
    /// table.
    Stream,
    /// Reading and writing objects, including access through presigned URLs.
    Bucket,
    /// Sending messages to queues and receiving them.
    Queues,
}

impl KeyUse {
    fn statement(self, key_arn: &str) -> Statement {
        let key = [Expression::literal(key_arn)];
        match self {
            // DynamoDB's documentation requires these actions for roles that read and write.
            Self::Tables => Statement::allow(
                "KeyOfTables",
                [
                    "kms:Decrypt",
                    "kms:DescribeKey",
                    "kms:Encrypt",
                    "kms:GenerateDataKey",
                    "kms:ReEncryptFrom",
                    "kms:ReEncryptTo",
                ],
                key,
            )
            .only_if(via_service("dynamodb")),
            Self::Stream => Statement::allow("KeyOfStream", ["kms:Decrypt"], key)
                .only_if(via_service("dynamodb")),
            Self::Bucket => {
                Statement::allow("KeyOfBucket", ["kms:Decrypt", "kms:GenerateDataKey"], key)
                    .only_if(via_service("s3"))
            }
            // Senders also need to decrypt, because SQS reuses a data key for some minutes.
            Self::Queues => {
                Statement::allow("KeyOfQueues", ["kms:Decrypt", "kms:GenerateDataKey"], key)
                    .only_if(via_service("sqs"))
            }
        }
    }
}

/// Returns the condition that a service in the stack's region calls KMS on behalf of the caller.
fn via_service(service: &str) -> Value {
    let service = Expression::substitution(format!("{service}.${{AWS::Region}}.amazonaws.com"));
    json!({ "StringEquals": { "kms:ViaService": Value::from(service) } })
}

/// Allows a role to use the customer's KMS key for the purposes `uses`. Returns the role unchanged
/// if no key is configured.
pub(super) fn allow_key_use(role: Role, config: &Config, uses: &[KeyUse]) -> Role {
    let Some(key_arn) = config.encryption.key() else { return role };
    let statements: Vec<Statement> =
        uses.iter().map(|key_use| key_use.statement(key_arn)).collect();
    role.policy("key", statements)
}
