//! Presigned requests of the in-memory object store, which records a grant for each URL.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::contract::UrlRequest;
use crate::ports::{
    BlobKey, NewBlob, PortError, PresignedRequest, STATE_PENDING, STATE_TAG, UploadGrant,
    check_valid_s,
};

/// Prefix of headers that the store interprets. Requests may contain such a header only if it is
/// signed.
const SIGNED_PREFIX: &str = "x-amz-";

/// Grants of all presigned URLs.
#[derive(Default)]
pub(super) struct Grants {
    by_url: BTreeMap<String, Grant>,
}

/// Grant of one presigned URL.
pub(super) enum Grant {
    Upload { presigned: PresignedRequest, grant: UploadGrant },
    Download { presigned: PresignedRequest, key: BlobKey },
}

impl Grants {
    pub(super) fn upload(
        &mut self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        grant.check()?;
        let checksum: String = grant.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        let headers = [
            ("content-encoding", grant.content_encoding.clone()),
            ("content-length", Some(grant.length.to_string())),
            ("content-type", grant.content_type.clone()),
            ("if-none-match", Some("*".to_owned())),
            ("x-amz-checksum-sha256", Some(checksum)),
            ("x-amz-tagging", Some(format!("{STATE_TAG}={STATE_PENDING}"))),
        ];
        let headers =
            headers.into_iter().filter_map(|(name, value)| Some((name.to_owned(), value?)));
        let presigned = PresignedRequest {
            headers: headers.collect(),
            ..self.presigned("PUT", &grant.key, grant.valid_s, now_s)
        };
        let granted = Grant::Upload { presigned: presigned.clone(), grant: grant.clone() };
        self.by_url.insert(presigned.url.clone(), granted);
        Ok(presigned)
    }

    pub(super) fn download(
        &mut self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        check_valid_s(valid_s)?;
        let presigned = self.presigned("GET", key, valid_s, now_s);
        let granted = Grant::Download { presigned: presigned.clone(), key: key.clone() };
        self.by_url.insert(presigned.url.clone(), granted);
        Ok(presigned)
    }

    fn presigned(&self, method: &str, key: &BlobKey, valid_s: u64, now_s: u64) -> PresignedRequest {
        let grant = self.by_url.len();
        let url = format!("memory:///{key}?X-Amz-Expires={valid_s}&grant={grant}.");
        let expires_s = now_s.saturating_add(valid_s);
        PresignedRequest { method: method.to_owned(), url, headers: vec![], expires_s }
    }

    /// Returns a request's grant if the request matches the grant exactly.
    pub(super) fn find(&self, request: &UrlRequest, now_s: u64) -> Option<&Grant> {
        let grant = self.by_url.get(&request.url)?;
        let presigned = grant.presigned();
        let sent = |name: &str| match name {
            "content-length" => Some(request.body.len().to_string()),
            name => {
                request.headers.iter().find(|(sent, _)| sent == name).map(|sent| sent.1.clone())
            }
        };
        let signed = |name: &str| presigned.headers.iter().any(|(signed, _)| signed == name);
        let allowed = request.method == presigned.method
            && now_s <= presigned.expires_s
            && presigned.headers.iter().all(|(name, value)| sent(name).as_ref() == Some(value))
            && request.headers.iter().all(|(name, _)| signed(name) || !must_be_signed(name));
        allowed.then_some(grant)
    }
}

fn must_be_signed(name: &str) -> bool {
    name.starts_with(SIGNED_PREFIX)
}

impl Grant {
    fn presigned(&self) -> &PresignedRequest {
        match self {
            Self::Upload { presigned, .. } | Self::Download { presigned, .. } => presigned,
        }
    }

    pub(super) fn key(&self) -> &BlobKey {
        match self {
            Self::Upload { grant, .. } => &grant.key,
            Self::Download { key, .. } => key,
        }
    }

    /// Returns the object described by an upload grant, without its content.
    pub(super) fn upload(&self) -> Option<NewBlob> {
        let Self::Upload { grant, .. } = self else { return None };
        Some(NewBlob {
            key: grant.key.clone(),
            bytes: Bytes::new(),
            sha256: grant.sha256,
            content_type: grant.content_type.clone(),
            content_encoding: grant.content_encoding.clone(),
            pending: true,
        })
    }
}
