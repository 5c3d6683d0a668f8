//! Suppressions of linter rules that do not apply to Cellar, with reasons that are written to the
//! template.

use crate::constructs::{
    Bucket, Construct, Function, FunctionUrl, Handle, LogGroup, Queue, Rule, Table, Topic,
};
use crate::stack::Stack;

/// Reason not to require a customer-managed key: the key has a monthly price, but an idle stack
/// must be free.
const NO_CUSTOMER_KEY: &str =
    "Encrypted with a key that AWS manages; a customer-managed key has a monthly price.";

/// Suppresses the rule that tables must use a customer-managed key.
pub(super) fn for_table(stack: &mut Stack, table: &Handle<Table>) {
    stack.suppress(table, Rule::checkov("CKV_AWS_119"), NO_CUSTOMER_KEY);
}

/// Suppresses the rule that buckets must write access logs.
pub(super) fn for_bucket(stack: &mut Stack, bucket: &Handle<Bucket>) {
    stack.suppress(
        bucket,
        Rule::checkov("CKV_AWS_18"),
        "Only Cellar's functions and presigned URLs access the bucket, and the event log records \
         who changed what; access logs would need a second bucket that grows forever.",
    );
}

/// Suppresses the rule against hard-coded account ids in ARNs, for resources that use the
/// customer's key.
fn for_customer_key<C: Construct>(stack: &mut Stack, resource: &Handle<C>) {
    stack.suppress(
        resource,
        Rule::cloudformation_validate("W9013"),
        "The ARN is from the customer's configuration: the key may belong to another account, so \
         the ARN cannot be built from the account of the stack.",
    );
}

/// Suppresses queue encryption rules, depending on whether a customer's key is configured.
pub(super) fn for_queue(stack: &mut Stack, queue: &Handle<Queue>, has_key: bool) {
    if has_key {
        return for_customer_key(stack, queue);
    }
    stack.suppress(
        queue,
        Rule::checkov("CKV_AWS_27"),
        "Encrypted with a key that SQS manages, which this rule does not detect; a \
         customer-managed key has a monthly price.",
    );
}

/// Suppresses log group encryption rules, depending on whether a customer's key is configured.
pub(super) fn for_log_group(stack: &mut Stack, log_group: &Handle<LogGroup>, has_key: bool) {
    if has_key {
        return for_customer_key(stack, log_group);
    }
    stack.suppress(log_group, Rule::checkov("CKV_AWS_158"), NO_CUSTOMER_KEY);
}

/// Reserved concurrency rule, with the reason for suppressing it.
const NO_RESERVED_CONCURRENCY: (&str, &str) = (
    "CKV_AWS_115",
    "Reserved concurrency would take concurrency from other functions of the account, and small \
     accounts have none to reserve.",
);
/// VPC rule, with the reason for suppressing it.
const NO_VPC: (&str, &str) = (
    "CKV_AWS_117",
    "The function only calls AWS services that authorize each request; inside a VPC, it would \
     need a NAT gateway, which costs money while idle.",
);

/// Suppresses linter rules for the API function.
pub(super) fn for_api_function(stack: &mut Stack, function: &Handle<Function>) {
    for (rule, reason) in [
        (
            "CKV_AWS_45",
            "The value that looks like a secret is a public key, which only verifies tokens.",
        ),
        NO_RESERVED_CONCURRENCY,
        (
            "CKV_AWS_116",
            "The function is only invoked synchronously: a failed request gets an error response, \
             so there is no event to keep.",
        ),
        NO_VPC,
        (
            "CKV_AWS_173",
            "The environment contains names and public keys but no secrets, and Lambda encrypts it \
             with a key of AWS.",
        ),
    ] {
        stack.suppress(function, Rule::checkov(rule), reason);
    }
}

/// Suppresses linter rules for a function that reads a change stream.
pub(super) fn for_stream_function(stack: &mut Stack, function: &Handle<Function>) {
    for (rule, reason) in [
        NO_RESERVED_CONCURRENCY,
        (
            "CKV_AWS_116",
            "Only an event source invokes the function, and the event source has a dead-letter \
             queue: a queue of the function would never receive a message.",
        ),
        NO_VPC,
        (
            "CKV_AWS_173",
            "The environment contains names of a queue and a bucket or of tables but no secrets, and \
             Lambda encrypts it with a key of AWS.",
        ),
    ] {
        stack.suppress(function, Rule::checkov(rule), reason);
    }
}

/// Suppresses linter rules for the snapshot function, which is invoked by a queue.
pub(super) fn for_snapshot_function(stack: &mut Stack, function: &Handle<Function>) {
    for (rule, reason) in [
        NO_RESERVED_CONCURRENCY,
        (
            "CKV_AWS_116",
            "Only the snapshot queue invokes the function, and that queue has a dead-letter queue: \
             a queue of the function would never receive a message.",
        ),
        NO_VPC,
        (
            "CKV_AWS_173",
            "The environment contains names of tables, a queue and a bucket but no secrets, and \
             Lambda encrypts it with a key of AWS.",
        ),
    ] {
        stack.suppress(function, Rule::checkov(rule), reason);
    }
}

/// Suppresses the rule that function URLs must use IAM authentication. The function verifies tokens
/// itself.
pub(super) fn for_api_url(stack: &mut Stack, url: &Handle<FunctionUrl>) {
    stack.suppress(
        url,
        Rule::checkov("CKV_AWS_258"),
        "The function verifies a signed token in each request; IAM does not know the users of \
         spreadsheets.",
    );
}

/// Suppresses encryption rules for the alarm topic, depending on whether a customer's key is
/// configured.
pub(super) fn for_topic(stack: &mut Stack, topic: &Handle<Topic>, has_key: bool) {
    if has_key {
        return for_customer_key(stack, topic);
    }
    stack.suppress(
        topic,
        Rule::checkov("CKV_AWS_26"),
        "CloudWatch cannot use the key that SNS manages, so no alarm would be delivered; a \
         customer-managed key has a monthly price. Messages contain names of alarms but no \
         customer data.",
    );
}
