//! Settings of the artifact bucket, in the formats of S3.

use axum::body::Body;
use axum::http::StatusCode;
use axum::response::Response;

use super::reply::error;

/// A bucket setting.
pub(crate) struct Setting {
    /// Suffix of the names of the setting's calls.
    pub(crate) name: &'static str,
    /// Value that a deployment sets.
    pub(crate) ours: &'static str,
    /// Error code of a read if the setting is missing.
    missing: &'static str,
}

pub(crate) const POLICY: Setting = Setting {
    name: "BucketPolicy",
    ours: r#"{"Version":"2012-10-17","Statement":[{"Sid":"TlsOnly","Effect":"Deny","Principal":"*",
        "Action":"s3:*","Resource":["arn:aws:s3:::cellar-artifacts-000000000000-eu-west-1-an",
        "arn:aws:s3:::cellar-artifacts-000000000000-eu-west-1-an/*"],
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
    pub(crate) const ALL: [Self; 3] = [POLICY, LIFECYCLE, CLOSED];

    /// Returns the response to a read of the setting.
    pub(super) fn answer(&self, set: Option<&String>) -> Response {
        match set {
            Some(text) => Response::new(Body::from(text.clone())),
            None => error(StatusCode::NOT_FOUND, self.missing, "It is not set.", true),
        }
    }
}
