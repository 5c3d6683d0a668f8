//! Function permissions for the customer's KMS key. A function can use the key only through the
//! service that stores the data, so a role cannot decrypt data directly.

use serde_json::{Value, json};

use crate::config::Config;
use crate::constructs::{Role, Statement};
use crate::expression::Expression;

/// Purpose for which a function needs the KMS key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyUse {
    /// Read and write table items. DynamoDB calls KMS on behalf of the caller.
    Tables,
    /// Read a table's change stream, which is encrypted with the key of the table.
    Stream,
    /// Read and write objects, including access through presigned URLs.
    Bucket,
    /// Send messages to queues and receive messages from them.
    Queues,
}

impl KeyUse {
    fn statement(self, key_arn: &str) -> Statement {
        let key = [Expression::literal(key_arn)];
        match self {
            // Required by the DynamoDB documentation for roles that read and write.
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
            // Senders must be able to decrypt too, because SQS reuses a data key for several
            // minutes.
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

/// Allows a role to use the customer's KMS key for `uses`. No-op if no key is configured.
pub(super) fn allow_key_use(role: Role, config: &Config, uses: &[KeyUse]) -> Role {
    let Some(key_arn) = config.encryption.key() else { return role };
    let statements: Vec<Statement> =
        uses.iter().map(|key_use| key_use.statement(key_arn)).collect();
    role.policy("key", statements)
}
