//! Findings of template checkers that do not apply to Cellar, with the reasons that the template
//! carries.

use crate::constructs::{
    Bucket, Construct, Function, FunctionUrl, LogGroup, Queue, Rule, Table, Topic,
};
use crate::stack::{Handle, Stack};

/// A key of one's own has a monthly price, and an idle stack costs nothing.
const NO_OWN_KEY: &str =
    "Encrypted with a key that AWS manages; a key of one's own costs money every month.";

/// Tables: no key of one's own.
pub(super) fn for_table(stack: &mut Stack, table: &Handle<Table>) {
    stack.suppress(table, Rule::checkov("CKV_AWS_119"), NO_OWN_KEY);
}

/// The bucket: no access logs.
pub(super) fn for_bucket(stack: &mut Stack, bucket: &Handle<Bucket>) {
    stack.suppress(
        bucket,
        Rule::checkov("CKV_AWS_18"),
        "Only Cellar's functions and URLs that they sign reach the bucket, and the event log \
         records who changed what; access logs would need a second bucket that grows for ever.",
    );
}

/// The customer says which key it is, in their own account.
fn for_customers_key<C: Construct>(stack: &mut Stack, resource: &Handle<C>) {
    stack.suppress(
        resource,
        Rule::cloudformation_validate("W9013"),
        "The ARN of the customer's key, from their own configuration: the key may be another \
         account's, so that its id is not taken from where the stack is.",
    );
}

/// A queue: no key of one's own, or the customer's.
pub(super) fn for_queue(stack: &mut Stack, queue: &Handle<Queue>, has_key: bool) {
    if has_key {
        return for_customers_key(stack, queue);
    }
    stack.suppress(
        queue,
        Rule::checkov("CKV_AWS_27"),
        "Encrypted with a key that SQS manages, of which this rule knows nothing; a key of one's \
         own costs money every month.",
    );
}

/// A log group: no key of one's own, or the customer's.
pub(super) fn for_log_group(stack: &mut Stack, log_group: &Handle<LogGroup>, has_key: bool) {
    if has_key {
        return for_customers_key(stack, log_group);
    }
    stack.suppress(log_group, Rule::checkov("CKV_AWS_158"), NO_OWN_KEY);
}

/// No share of the account's concurrency.
const NO_RESERVE: (&str, &str) = (
    "CKV_AWS_115",
    "A reserved share would take concurrency from the account's other functions, and small \
     accounts have none to reserve.",
);
/// No VPC.
const NO_VPC: (&str, &str) = (
    "CKV_AWS_117",
    "It reaches only AWS services that check each request; from inside a VPC it would need a NAT \
     gateway, which costs money while idle.",
);

/// A function that answers requests.
pub(super) fn for_api_function(stack: &mut Stack, function: &Handle<Function>) {
    for (rule, reason) in [
        (
            "CKV_AWS_45",
            "What looks like a secret is a public key, which verifies tokens and cannot sign any.",
        ),
        NO_RESERVE,
        (
            "CKV_AWS_116",
            "It is only called synchronously: a failed request is answered with an error, there \
             is no event to keep.",
        ),
        NO_VPC,
        (
            "CKV_AWS_173",
            "Its environment holds names and public keys, no secrets, and Lambda encrypts it \
             with a key of AWS.",
        ),
    ] {
        stack.suppress(function, Rule::checkov(rule), reason);
    }
}

/// A function that a stream calls.
pub(super) fn for_stream_function(stack: &mut Stack, function: &Handle<Function>) {
    for (rule, reason) in [
        NO_RESERVE,
        (
            "CKV_AWS_116",
            "Only its event source calls it, and that has a queue for what fails: the function's \
             own would never get a message.",
        ),
        NO_VPC,
        (
            "CKV_AWS_173",
            "Its environment holds the names of a queue and a bucket, or of tables, no secrets, and \
             Lambda encrypts it with a key of AWS.",
        ),
    ] {
        stack.suppress(function, Rule::checkov(rule), reason);
    }
}

/// A function that a queue calls.
pub(super) fn for_snapshot_function(stack: &mut Stack, function: &Handle<Function>) {
    for (rule, reason) in [
        NO_RESERVE,
        (
            "CKV_AWS_116",
            "Only its queue calls it, and that has dead letters: the function's own would never \
             get a message.",
        ),
        NO_VPC,
        (
            "CKV_AWS_173",
            "Its environment holds the names of tables, a queue and a bucket, no secrets, and \
             Lambda encrypts it with a key of AWS.",
        ),
    ] {
        stack.suppress(function, Rule::checkov(rule), reason);
    }
}

/// The URL: open, because the function checks tokens.
pub(super) fn for_api_url(stack: &mut Stack, url: &Handle<FunctionUrl>) {
    stack.suppress(
        url,
        Rule::checkov("CKV_AWS_258"),
        "The function verifies a signed token with each request; IAM does not know the users of \
         spreadsheets.",
    );
}

/// The topic of alarms: no key of one's own, or the customer's.
pub(super) fn for_topic(stack: &mut Stack, topic: &Handle<Topic>, has_key: bool) {
    if has_key {
        return for_customers_key(stack, topic);
    }
    stack.suppress(
        topic,
        Rule::checkov("CKV_AWS_26"),
        "The key that SNS manages refuses CloudWatch, so that no alarm would arrive; a key of one's \
         own costs money every month. Messages name alarms and hold none of the customers' data.",
    );
}
