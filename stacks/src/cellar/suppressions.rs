//! Suppresses linter rules that do not apply to Cellar. The template states the reason for each
//! suppression.

use crate::constructs::{
    Bucket, Construct, Function, FunctionUrl, Handle, LogGroup, Queue, Rule, Table, Topic,
};
use crate::stack::Stack;

/// The reason why a resource has no customer-managed key by default. Such a key has a monthly
/// price, but an idle stack must be free.
const NO_CUSTOMER_KEY: &str =
    "Encrypted with a key that AWS manages; a customer-managed key has a monthly price.";

/// Suppresses the rule that tables must be encrypted with a customer-managed key.
pub(super) fn suppress_table_rules(stack: &mut Stack, table: &Handle<Table>) {
    stack.suppress(table, Rule::checkov("CKV_AWS_119"), NO_CUSTOMER_KEY);
}

/// Suppresses the rule that buckets must write access logs.
pub(super) fn suppress_bucket_rules(stack: &mut Stack, bucket: &Handle<Bucket>) {
    stack.suppress(
        bucket,
        Rule::checkov("CKV_AWS_18"),
        "Only Cellar's functions and presigned URLs access the bucket, and the event log records \
         who changed what; access logs would need a second bucket that grows forever.",
    );
}

/// Suppresses the rule against hard-coded account ids in ARNs. The rule does not apply to the
/// customer's KMS key, which may belong to another account.
fn suppress_hard_coded_account_rule<C: Construct>(stack: &mut Stack, resource: &Handle<C>) {
    stack.suppress(
        resource,
        Rule::cloudformation_validate("W9013"),
        "The ARN is from the customer's configuration: the key may belong to another account, so \
         the ARN cannot be built from the account of the stack.",
    );
}

/// Suppresses the rule that conflicts with the encryption of the resource. If `uses_customer_key`
/// is `true`, this is the rule against account ids in ARNs. Otherwise, it is the rule that requires
/// encryption with a KMS key.
pub(super) fn suppress_queue_rules(
    stack: &mut Stack,
    queue: &Handle<Queue>,
    uses_customer_key: bool,
) {
    if uses_customer_key {
        suppress_hard_coded_account_rule(stack, queue);
        return;
    }
    stack.suppress(
        queue,
        Rule::checkov("CKV_AWS_27"),
        "Encrypted with a key that SQS manages, which this rule does not detect; a \
         customer-managed key has a monthly price.",
    );
}

pub(super) fn suppress_log_group_rules(
    stack: &mut Stack,
    log_group: &Handle<LogGroup>,
    uses_customer_key: bool,
) {
    if uses_customer_key {
        suppress_hard_coded_account_rule(stack, log_group);
        return;
    }
    stack.suppress(log_group, Rule::checkov("CKV_AWS_158"), NO_CUSTOMER_KEY);
}

struct SuppressedRule {
    id: &'static str,
    reason: &'static str,
}

const RESERVED_CONCURRENCY: SuppressedRule = SuppressedRule {
    id: "CKV_AWS_115",
    reason: "Reserved concurrency would take concurrency from other functions of the account, and small \
             accounts have none to reserve.",
};
const VPC: SuppressedRule = SuppressedRule {
    id: "CKV_AWS_117",
    reason: "The function only calls AWS services that authorize each request; inside a VPC, it would \
             need a NAT gateway, which costs money while idle.",
};
/// The checkov rule that environment variables must not contain secrets.
const ENVIRONMENT_SECRETS: &str = "CKV_AWS_45";
/// The checkov rule that each function must have its own dead-letter queue.
const FUNCTION_DEAD_LETTERS: &str = "CKV_AWS_116";
/// The checkov rule that environment variables must be encrypted with a customer-managed key.
const ENVIRONMENT_ENCRYPTION: &str = "CKV_AWS_173";

fn suppress_function_rules<const N: usize>(
    stack: &mut Stack,
    function: &Handle<Function>,
    rules: [SuppressedRule; N],
) {
    for rule in rules {
        stack.suppress(function, Rule::checkov(rule.id), rule.reason);
    }
}

pub(super) fn suppress_api_function_rules(stack: &mut Stack, function: &Handle<Function>) {
    let environment_secrets = SuppressedRule {
        id: ENVIRONMENT_SECRETS,
        reason: "The value that looks like a secret is a public key, which only verifies tokens.",
    };
    let dead_letters = SuppressedRule {
        id: FUNCTION_DEAD_LETTERS,
        reason: "The function is only invoked synchronously: a failed request gets an error response, \
                 so there is no event to keep.",
    };
    let environment_encryption = SuppressedRule {
        id: ENVIRONMENT_ENCRYPTION,
        reason: "The environment contains names and public keys but no secrets, and Lambda encrypts it \
                 with a key of AWS.",
    };
    let rules =
        [environment_secrets, RESERVED_CONCURRENCY, dead_letters, VPC, environment_encryption];
    suppress_function_rules(stack, function, rules);
}

pub(super) fn suppress_stream_function_rules(stack: &mut Stack, function: &Handle<Function>) {
    let dead_letters = SuppressedRule {
        id: FUNCTION_DEAD_LETTERS,
        reason: "Only an event source invokes the function, and the event source has a dead-letter \
                 queue: a queue of the function would never receive a message.",
    };
    let environment_encryption = SuppressedRule {
        id: ENVIRONMENT_ENCRYPTION,
        reason: "The environment contains names of a queue and a bucket or of tables but no secrets, and \
                 Lambda encrypts it with a key of AWS.",
    };
    let rules = [RESERVED_CONCURRENCY, dead_letters, VPC, environment_encryption];
    suppress_function_rules(stack, function, rules);
}

pub(super) fn suppress_snapshot_function_rules(stack: &mut Stack, function: &Handle<Function>) {
    let dead_letters = SuppressedRule {
        id: FUNCTION_DEAD_LETTERS,
        reason: "Only the snapshot queue invokes the function, and that queue has a dead-letter queue: \
                 a queue of the function would never receive a message.",
    };
    let environment_encryption = SuppressedRule {
        id: ENVIRONMENT_ENCRYPTION,
        reason: "The environment contains names of tables, a queue and a bucket but no secrets, and \
                 Lambda encrypts it with a key of AWS.",
    };
    let rules = [RESERVED_CONCURRENCY, dead_letters, VPC, environment_encryption];
    suppress_function_rules(stack, function, rules);
}

/// Suppresses the rule that function URLs must use IAM authentication. The API function verifies
/// the token of each request itself.
pub(super) fn suppress_api_url_rules(stack: &mut Stack, url: &Handle<FunctionUrl>) {
    stack.suppress(
        url,
        Rule::checkov("CKV_AWS_258"),
        "The function verifies a signed token in each request; IAM does not know the users of \
         spreadsheets.",
    );
}

pub(super) fn suppress_topic_rules(
    stack: &mut Stack,
    topic: &Handle<Topic>,
    uses_customer_key: bool,
) {
    if uses_customer_key {
        suppress_hard_coded_account_rule(stack, topic);
        return;
    }
    stack.suppress(
        topic,
        Rule::checkov("CKV_AWS_26"),
        "CloudWatch cannot use the key that SNS manages, so no alarm would be delivered; a \
         customer-managed key has a monthly price. Messages contain names of alarms but no \
         customer data.",
    );
}
