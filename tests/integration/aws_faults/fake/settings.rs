//! The settings of the bucket of the bundles, as S3 keeps and tells them.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;

use super::reply::error;

/// A setting.
pub(crate) struct Setting {
    /// How the names of its calls end.
    pub(crate) name: &'static str,
    /// As deploying sets it.
    pub(crate) ours: &'static str,
    /// The code of the answer if it is not set.
    missing: &'static str,
}

pub(crate) const POLICY: Setting = Setting {
    name: "BucketPolicy",
    ours: r#"{"Version":"2012-10-17","Statement":[{"Sid":"TlsOnly","Effect":"Deny","Principal":"*",
        "Action":"s3:*","Resource":["arn:aws:s3:::cellar-artifacts-000000000000-eu-west-1",
        "arn:aws:s3:::cellar-artifacts-000000000000-eu-west-1/*"],
        "Condition":{"Bool":{"aws:SecureTransport":"false"}}}]}"#,
    missing: "NoSuchBucketPolicy",
};
pub(crate) const LIFECYCLE: Setting = Setting {
    name: "BucketLifecycle",
    ours: "<LifecycleConfiguration><Rule><ID>abort-uploads</ID><Filter><Prefix></Prefix></Filter>\
           <Status>Enabled</Status><AbortIncompleteMultipartUpload><DaysAfterInitiation>1\
           </DaysAfterInitiation></AbortIncompleteMultipartUpload></Rule></LifecycleConfiguration>",
    missing: "NoSuchLifecycleConfiguration",
};
pub(crate) const CLOSED: Setting = Setting {
    name: "PublicAccessBlock",
    ours: "<PublicAccessBlockConfiguration><BlockPublicAcls>true</BlockPublicAcls><IgnorePublicAcls>\
           true</IgnorePublicAcls><BlockPublicPolicy>true</BlockPublicPolicy><RestrictPublicBuckets>\
           true</RestrictPublicBuckets></PublicAccessBlockConfiguration>",
    missing: "NoSuchPublicAccessBlockConfiguration",
};

impl Setting {
    /// All of them.
    pub(crate) const ALL: [Self; 3] = [POLICY, LIFECYCLE, CLOSED];

    /// What is told of it.
    pub(super) fn answer(&self, set: Option<&String>) -> Response {
        match set {
            Some(text) => Response::new(Body::from(text.clone())),
            None => error(StatusCode::NOT_FOUND, self.missing, "It is not set.", true),
        }
    }
}
