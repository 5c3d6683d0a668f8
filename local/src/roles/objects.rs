//! Access requests for S3 operations.

use axum::http::HeaderMap;
use s3s::path::S3Path;

use super::access_request::{AccessRequest, ConditionKey};
use crate::names::bucket_arn;

const PREFIX: &str = "prefix";
const VERSION: &str = "versionId";
const TAGGING: &str = "x-amz-tagging";

pub(crate) fn access_requests(
    operation: &str,
    path: &S3Path,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Vec<AccessRequest> {
    let parameter = |name: &str| query_parameter(query.unwrap_or_default(), name);
    let action = match operation {
        "HeadBucket" | "ListObjects" | "ListObjectsV2" => "ListBucket",
        "ListBuckets" => "ListAllMyBuckets",
        "GetObject" | "HeadObject" if parameter(VERSION).is_some() => "GetObjectVersion",
        "HeadObject" => "GetObject",
        "DeleteObject" if parameter(VERSION).is_some() => "DeleteObjectVersion",
        "ListObjectVersions" => "ListBucketVersions",
        action => action,
    };
    let resource = match path {
        S3Path::Root => "*".to_owned(),
        S3Path::Bucket { bucket } => bucket_arn(bucket),
        S3Path::Object { bucket, key } => object_arn(bucket, key),
    };
    let mut access_request = AccessRequest::new(format!("s3:{action}"), resource.clone());
    if action == "ListBucket"
        && let Some(prefix) = parameter(PREFIX)
    {
        access_request = access_request.with_key(ConditionKey::Prefix, vec![prefix]);
    }
    let mut access_requests = vec![access_request];
    // A request that stores an object with tags requires another permission in addition to
    // `s3:PutObject`.
    let has_tags = headers.contains_key(TAGGING) || parameter(TAGGING).is_some();
    if operation == "PutObject" && has_tags {
        access_requests.push(AccessRequest::new("s3:PutObjectTagging", resource));
    }
    access_requests
}

fn query_parameter(query: &str, name: &str) -> Option<String> {
    let mut parameters = form_urlencoded::parse(query.as_bytes());
    let (_, value) = parameters.find(|(parameter_name, _)| parameter_name == name)?;
    Some(value.into_owned())
}

/// Returns the access requests for listing an object, all of which must be allowed. S3 reports that
/// an object does not exist only to callers with this permission. AWS does not document whether the
/// check has the condition key `s3:prefix`, so both forms are checked.
pub(crate) fn list_requests(bucket: &str, key: &str) -> [AccessRequest; 2] {
    let without_prefix = AccessRequest::new("s3:ListBucket", bucket_arn(bucket));
    let with_prefix = without_prefix.clone().with_key(ConditionKey::Prefix, vec![key.to_owned()]);
    [without_prefix, with_prefix]
}

fn object_arn(bucket: &str, key: &str) -> String {
    bucket_arn(bucket) + "/" + key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requests_of(
        operation: &str,
        path: &S3Path,
        query: &str,
        headers: &[(&'static str, &str)],
    ) -> Vec<AccessRequest> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        access_requests(operation, path, Some(query), &map)
    }

    #[test]
    fn maps_operations_to_actions() {
        let (root, bucket) = (S3Path::root(), S3Path::bucket("b"));
        let object = S3Path::object("b", "uploads/x");
        for (operation, path, query, action, resource) in [
            ("GetObject", &object, "x-id=GetObject", "s3:GetObject", "arn:aws:s3:::b/uploads/x"),
            ("HeadObject", &object, "", "s3:GetObject", "arn:aws:s3:::b/uploads/x"),
            (
                "GetObject",
                &object,
                "versionId=1",
                "s3:GetObjectVersion",
                "arn:aws:s3:::b/uploads/x",
            ),
            ("PutObject", &object, "", "s3:PutObject", "arn:aws:s3:::b/uploads/x"),
            ("DeleteObject", &object, "", "s3:DeleteObject", "arn:aws:s3:::b/uploads/x"),
            ("GetObjectTagging", &object, "", "s3:GetObjectTagging", "arn:aws:s3:::b/uploads/x"),
            (
                "DeleteObject",
                &object,
                "versionId=1",
                "s3:DeleteObjectVersion",
                "arn:aws:s3:::b/uploads/x",
            ),
            ("ListObjectVersions", &bucket, "", "s3:ListBucketVersions", "arn:aws:s3:::b"),
            ("HeadBucket", &bucket, "", "s3:ListBucket", "arn:aws:s3:::b"),
            ("ListBuckets", &root, "", "s3:ListAllMyBuckets", "*"),
        ] {
            let expected = [AccessRequest::new(action, resource)];
            assert_eq!(requests_of(operation, path, query, &[]), expected);
        }
    }

    #[test]
    fn lists_have_a_prefix() {
        let list = |prefix: &str| {
            AccessRequest::new("s3:ListBucket", "arn:aws:s3:::b")
                .with_key(ConditionKey::Prefix, vec![prefix.to_owned()])
        };
        let query = "list-type=2&prefix=uploads%2Fx";
        let bucket = S3Path::bucket("b");
        assert_eq!(requests_of("ListObjectsV2", &bucket, query, &[]), [list("uploads/x")]);
        let [without_prefix, with_prefix] = list_requests("b", "uploads/x");
        assert_eq!(with_prefix, list("uploads/x"));
        assert_eq!(without_prefix.values(ConditionKey::Prefix), None);
    }

    #[test]
    fn tags_of_a_new_object_need_their_own_permission() {
        let object = S3Path::object("b", "k");
        let both = ["s3:PutObject", "s3:PutObjectTagging"]
            .map(|action| AccessRequest::new(action, "arn:aws:s3:::b/k"));
        assert_eq!(requests_of("PutObject", &object, "", &[(TAGGING, "state=pending")]), both);
        assert_eq!(requests_of("PutObject", &object, "x-amz-tagging=a%3Db", &[]), both);
    }
}
