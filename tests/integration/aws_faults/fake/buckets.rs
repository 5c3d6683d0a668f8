//! Names of S3 buckets. Like S3, the fake separates global names from account-regional ones.

use std::collections::BTreeSet;

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;

use super::reply::{error, object};

/// The artifact bucket of a deployment.
pub(crate) const REGIONAL_BUCKET: &str = "cellar-artifacts-000000000000-eu-west-1-an";
const REGIONAL_NAME_END: &str = "-an";

/// Names of the buckets of this account.
#[derive(Clone, Debug)]
pub(crate) struct FakeBuckets(pub(crate) BTreeSet<String>);

/// The bucket of a request.
pub(super) struct BucketTarget<'a> {
    pub(super) bucket: &'a str,
    /// Value of the header `x-amz-bucket-namespace`.
    pub(super) namespace: Option<&'a str>,
}

impl Default for FakeBuckets {
    fn default() -> Self {
        Self([REGIONAL_BUCKET.to_owned()].into())
    }
}

impl FakeBuckets {
    /// Returns `None` if the action does not concern the names of buckets.
    pub(super) fn answer(&mut self, action: &str, target: &BucketTarget<'_>) -> Option<Response> {
        let &BucketTarget { bucket, namespace } = target;
        match action {
            "HeadBucket" if self.0.contains(bucket) => Some(object()),
            "HeadBucket" => {
                let reply = Response::builder().status(StatusCode::NOT_FOUND);
                Some(reply.body(Body::empty()).unwrap())
            }
            "CreateBucket" => Some(match (bucket.ends_with(REGIONAL_NAME_END), namespace) {
                (true, None) => refusal("MissingNamespaceHeader"),
                (false, Some("account-regional")) => refusal("InvalidNamespaceHeader"),
                _ => {
                    self.0.insert(bucket.to_owned());
                    object()
                }
            }),
            _ => None,
        }
    }
}

fn refusal(code: &str) -> Response {
    error(StatusCode::BAD_REQUEST, code, "The name and the namespace do not match.", true)
}
