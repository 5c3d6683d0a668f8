//! What a request to S3 asks for, as policies see it.

use axum::http::HeaderMap;
use s3s::path::S3Path;

use super::ask::{Ask, ConditionKey};
use crate::names::bucket_arn;

const PREFIX: &str = "prefix";
const VERSION: &str = "versionId";
const TAGGING: &str = "x-amz-tagging";

/// What a request asks for: an operation by its name, the path, the query and the headers.
pub(crate) fn asks(
    operation: &str,
    path: &S3Path,
    query: Option<&str>,
    headers: &HeaderMap,
) -> Vec<Ask> {
    let parameter = |name: &str| {
        let mut all = form_urlencoded::parse(query.unwrap_or_default().as_bytes());
        all.find(|(found, _)| found == name).map(|(_, value)| value.into_owned())
    };
    let action = match operation {
        "HeadBucket" | "ListObjects" | "ListObjectsV2" => "ListBucket",
        "ListBuckets" => "ListAllMyBuckets",
        "GetObject" | "HeadObject" if parameter(VERSION).is_some() => "GetObjectVersion",
        "HeadObject" => "GetObject",
        "DeleteObject" if parameter(VERSION).is_some() => "DeleteObjectVersion",
        "ListObjectVersions" => "ListBucketVersions",
        same => same,
    };
    let resource = match path {
        S3Path::Root => "*".to_owned(),
        S3Path::Bucket { bucket } => bucket_arn(bucket),
        S3Path::Object { bucket, key } => object_arn(bucket, key),
    };
    let mut ask = Ask::new(format!("s3:{action}"), resource.clone());
    if let Some(prefix) = parameter(PREFIX).filter(|_| action == "ListBucket") {
        ask = ask.with(ConditionKey::Prefix, vec![prefix]);
    }
    let tags =
        operation == "PutObject" && (headers.contains_key(TAGGING) || parameter(TAGGING).is_some());
    // Tags that come with an object are put by a right of their own.
    let tags = tags.then(|| Ask::new("s3:PutObjectTagging", resource));
    [ask].into_iter().chain(tags).collect()
}

/// What S3 asks of whoever wants an object that is not there, before it says so: whether he could list it.
pub(crate) fn to_know_it_is_missing(bucket: &str, key: &str) -> Ask {
    Ask::new("s3:ListBucket", bucket_arn(bucket)).with(ConditionKey::Prefix, vec![key.to_owned()])
}

fn object_arn(bucket: &str, key: &str) -> String {
    bucket_arn(bucket) + "/" + key
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(
        operation: &str,
        path: &S3Path,
        query: &str,
        headers: &[(&'static str, &str)],
    ) -> Vec<Ask> {
        let mut map = HeaderMap::new();
        for (name, value) in headers {
            map.insert(*name, value.parse().unwrap());
        }
        asks(operation, path, Some(query), &map)
    }

    #[test]
    fn operations_are_the_actions_that_permit_them() {
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
            assert_eq!(asked(operation, path, query, &[]), [Ask::new(action, resource)]);
        }
    }

    #[test]
    fn a_list_is_asked_for_with_its_prefix() {
        let list = |prefix: &str| {
            Ask::new("s3:ListBucket", "arn:aws:s3:::b")
                .with(ConditionKey::Prefix, vec![prefix.to_owned()])
        };
        let query = "list-type=2&prefix=uploads%2Fx";
        assert_eq!(asked("ListObjectsV2", &S3Path::bucket("b"), query, &[]), [list("uploads/x")]);
        assert_eq!(to_know_it_is_missing("b", "uploads/x"), list("uploads/x"));
    }

    #[test]
    fn tags_of_a_new_object_need_a_right_of_their_own() {
        let object = S3Path::object("b", "k");
        let both =
            ["s3:PutObject", "s3:PutObjectTagging"].map(|one| Ask::new(one, "arn:aws:s3:::b/k"));
        assert_eq!(asked("PutObject", &object, "", &[(TAGGING, "state=pending")]), both);
        assert_eq!(asked("PutObject", &object, "x-amz-tagging=a%3Db", &[]), both);
    }
}
