//! Creates presigned URLs. Signing is local and sends no request.

use std::time::{Duration, UNIX_EPOCH};

use aws_sdk_s3::error::{DisplayErrorContext, SdkError};
use aws_sdk_s3::presigning::{PresignedRequest as SignedRequest, PresigningConfig};
use cellar_engine::ports::{
    BlobKey, PortError, PresignedRequest, STATE_PENDING, STATE_TAG, UploadGrant, check_valid_s,
};

use super::head::encode_sha256;
use super::{ANY_ETAG, S3Blobs};

impl S3Blobs {
    pub(super) async fn sign_upload(
        &self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        grant.check()?;
        let content_length =
            i64::try_from(grant.length).map_err(|error| PortError::permanent(error.to_string()))?;
        let signed_put = self
            .client
            .put_object()
            .bucket(&self.bucket)
            .key(grant.key.as_str())
            .content_length(content_length)
            .checksum_sha256(encode_sha256(&grant.sha256))
            .set_content_type(grant.content_type.clone())
            .set_content_encoding(grant.content_encoding.clone())
            .if_none_match(ANY_ETAG)
            .tagging(format!("{STATE_TAG}={STATE_PENDING}"))
            .presigned(presigning_config(grant.valid_s, now_s)?)
            .await;
        to_presigned_request(signed_put, now_s.saturating_add(grant.valid_s))
    }

    pub(super) async fn sign_download(
        &self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        check_valid_s(valid_s)?;
        let get = self.client.get_object().bucket(&self.bucket).key(key.as_str());
        let signed_get = get.presigned(presigning_config(valid_s, now_s)?).await;
        to_presigned_request(signed_get, now_s.saturating_add(valid_s))
    }
}

fn presigning_config(valid_s: u64, now_s: u64) -> Result<PresigningConfig, PortError> {
    PresigningConfig::builder()
        .start_time(UNIX_EPOCH + Duration::from_secs(now_s))
        .expires_in(Duration::from_secs(valid_s))
        .build()
        .map_err(|error| PortError::permanent(error.to_string()))
}

/// Every signing error is temporary: the only cause is missing credentials, which may become
/// available later.
fn to_presigned_request<E>(
    signing_result: Result<SignedRequest, SdkError<E>>,
    expires_s: u64,
) -> Result<PresignedRequest, PortError>
where
    E: std::error::Error + 'static,
{
    let signed_request = signing_result
        .map_err(|error| PortError::temporary(DisplayErrorContext(&error).to_string()))?;
    let mut headers: Vec<(String, String)> = signed_request
        .headers()
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .filter(|(name, _)| name != "host")
        .collect();
    headers.sort();
    Ok(PresignedRequest {
        method: signed_request.method().to_owned(),
        url: signed_request.uri().to_owned(),
        headers,
        expires_s,
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use cellar_engine::ports::Blobs as _;

    use super::*;
    use crate::s3::client_for_endpoint;

    #[tokio::test]
    async fn signs_every_header_of_a_grant() {
        let client = client_for_endpoint("http://127.0.0.1:1", "key", "secret");
        let blobs = S3Blobs::new("bucket".to_owned(), client, Arc::default());
        let key = BlobKey::new("uploads/a").unwrap();
        let grant = UploadGrant {
            key,
            length: 5,
            sha256: [0; 32],
            content_type: Some("text/plain".to_owned()),
            content_encoding: Some("zstd".to_owned()),
            valid_s: 900,
        };
        let signed = blobs.presign_put(&grant, 1_795_246_133).await.unwrap();
        let names: Vec<&str> = signed.headers.iter().map(|(name, _)| name.as_str()).collect();
        for name in [
            "content-encoding",
            "content-length",
            "content-type",
            "if-none-match",
            "x-amz-checksum-sha256",
            "x-amz-tagging",
        ] {
            assert!(names.contains(&name), "{name} is not sent");
        }
        let parameter = signed.url.split("X-Amz-SignedHeaders=").nth(1).unwrap();
        let mut expected = names.clone();
        expected.push("host");
        expected.sort_unstable();
        assert!(parameter.starts_with(&expected.join("%3B")), "{parameter}");
        assert!(signed.url.contains("X-Amz-Expires=900"), "{}", signed.url);
        assert_eq!(signed.expires_s, 1_795_246_133 + 900);
    }
}
