//! Presigned requests of the in-memory object store. The store remembers which request each URL
//! permits.

use std::collections::BTreeMap;

use bytes::Bytes;

use crate::contract::UrlRequest;
use crate::ports::{
    BlobKey, NewBlob, PortError, PresignedRequest, STATE_PENDING, STATE_TAG, UploadGrant,
    check_valid_s,
};

/// Prefix of headers that affect the stored object. Such a header is accepted only if it is signed.
const SIGNED_PREFIX: &str = "x-amz-";

#[derive(Default)]
pub(super) struct Grants {
    by_url: BTreeMap<String, Grant>,
}

pub(super) enum Grant {
    Upload { presigned: PresignedRequest, grant: UploadGrant },
    Download { presigned: PresignedRequest, key: BlobKey },
}

impl Grants {
    pub(super) fn grant_upload(
        &mut self,
        grant: &UploadGrant,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        grant.check()?;
        let checksum: String = grant.sha256.iter().map(|byte| format!("{byte:02x}")).collect();
        let signed_headers = [
            ("content-encoding", grant.content_encoding.clone()),
            ("content-length", Some(grant.length.to_string())),
            ("content-type", grant.content_type.clone()),
            ("if-none-match", Some("*".to_owned())),
            ("x-amz-checksum-sha256", Some(checksum)),
            ("x-amz-tagging", Some(format!("{STATE_TAG}={STATE_PENDING}"))),
        ];
        let mut presigned = self.presign("PUT", &grant.key, grant.valid_s, now_s);
        for (name, value) in signed_headers {
            if let Some(value) = value {
                presigned.headers.push((name.to_owned(), value));
            }
        }
        self.insert(Grant::Upload { presigned: presigned.clone(), grant: grant.clone() });
        Ok(presigned)
    }

    pub(super) fn grant_download(
        &mut self,
        key: &BlobKey,
        valid_s: u64,
        now_s: u64,
    ) -> Result<PresignedRequest, PortError> {
        check_valid_s(valid_s)?;
        let presigned = self.presign("GET", key, valid_s, now_s);
        self.insert(Grant::Download { presigned: presigned.clone(), key: key.clone() });
        Ok(presigned)
    }

    fn insert(&mut self, grant: Grant) {
        self.by_url.insert(grant.presigned().url.clone(), grant);
    }

    fn presign(&self, method: &str, key: &BlobKey, valid_s: u64, now_s: u64) -> PresignedRequest {
        let grant_number = self.by_url.len();
        let url = format!("memory:///{key}?X-Amz-Expires={valid_s}&grant={grant_number}.");
        let expires_s = now_s.saturating_add(valid_s);
        PresignedRequest { method: method.to_owned(), url, headers: vec![], expires_s }
    }

    /// Returns `None` if the request differs from the grant.
    pub(super) fn find(&self, request: &UrlRequest, now_s: u64) -> Option<&Grant> {
        let grant = self.by_url.get(&request.url)?;
        let presigned = grant.presigned();
        let is_granted = request.method == presigned.method
            && now_s <= presigned.expires_s
            && has_signed_headers(request, presigned)
            && !has_forbidden_header(request, presigned);
        if is_granted { Some(grant) } else { None }
    }
}

fn has_signed_headers(request: &UrlRequest, presigned: &PresignedRequest) -> bool {
    presigned.headers.iter().all(|(signed_name, signed_value)| {
        if signed_name == "content-length" {
            return *signed_value == request.body.len().to_string();
        }
        let sent_header = request.headers.iter().find(|(sent_name, _)| sent_name == signed_name);
        sent_header.is_some_and(|(_, sent_value)| sent_value == signed_value)
    })
}

fn has_forbidden_header(request: &UrlRequest, presigned: &PresignedRequest) -> bool {
    let is_signed =
        |sent_name: &str| presigned.headers.iter().any(|(signed_name, _)| signed_name == sent_name);
    request
        .headers
        .iter()
        .any(|(sent_name, _)| sent_name.starts_with(SIGNED_PREFIX) && !is_signed(sent_name))
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

    pub(super) fn granted_upload(&self) -> Option<NewBlob> {
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
