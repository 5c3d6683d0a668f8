//! What a function may do with the customer's key, if there is one: only through the service whose
//! data it reads and writes, so that the role alone decrypts nothing.

use serde_json::{Value, json};

use crate::config::Config;
use crate::constructs::{Role, Statement};
use crate::expression::Expression;

/// What a function needs the key for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum KeyUse {
    /// To read and write items: DynamoDB asks KMS in the name of the caller.
    Tables,
    /// To read the stream of a table, which is encrypted as the table is.
    Stream,
    /// To read and write objects, also those of the URLs that it signs.
    Bucket,
    /// To send messages to queues, and to receive them.
    Queues,
}

impl KeyUse {
    fn statement(self, key: &str) -> Statement {
        let key = [Expression::literal(key)];
        match self {
            // What DynamoDB's documentation asks of a role that reads and writes.
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
            .only_if(through("dynamodb")),
            Self::Stream => {
                Statement::allow("KeyOfStream", ["kms:Decrypt"], key).only_if(through("dynamodb"))
            }
            Self::Bucket => {
                Statement::allow("KeyOfBucket", ["kms:Decrypt", "kms:GenerateDataKey"], key)
                    .only_if(through("s3"))
            }
            // A sender decrypts, too: SQS uses a data key again for some minutes.
            Self::Queues => {
                Statement::allow("KeyOfQueues", ["kms:Decrypt", "kms:GenerateDataKey"], key)
                    .only_if(through("sqs"))
            }
        }
    }
}

/// Only where this service asks KMS in the name of the caller, in the stack's region.
fn through(service: &str) -> Value {
    let service = Expression::substitution(format!("{service}.${{AWS::Region}}.amazonaws.com"));
    json!({ "StringEquals": { "kms:ViaService": Value::from(service) } })
}

/// The role with what it needs of the customer's key; as it was if there is none.
pub(super) fn allow(role: Role, config: &Config, uses: &[KeyUse]) -> Role {
    let Some(key) = config.encryption.key() else { return role };
    let statements: Vec<Statement> = uses.iter().map(|one| one.statement(key)).collect();
    role.policy("key", statements)
}
